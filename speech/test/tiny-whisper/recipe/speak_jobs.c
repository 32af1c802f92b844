/*
 * Synthesizes thousands of sentences in one process and prints when words and phonemes begin.
 *
 *   cc -O2 -o speak_jobs speak_jobs.c -lespeak-ng
 *   ./speak_jobs OUT.pcm OUT.events < jobs
 *
 * A job is a line `VOICE<tab>WORDS_PER_MINUTE<tab>PITCH<tab>RANGE<tab>TEXT`. OUT.pcm: signed 16-bit mono at
 * 22050 Hz, one job after the other. OUT.events: `job FIRST_SAMPLE`, then `word MILLISECONDS
 * FIRST_CHARACTER`, `phoneme MILLISECONDS NAME`, `end MILLISECONDS` in order, then `done SAMPLES FAILED`.
 *
 * An unknown variant (`es+nobody`) is taken for none without a word.
 */
#include <espeak-ng/speak_lib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *pcm, *events;
static long samples_written;

static int take(short *samples, int count, espeak_EVENT *event) {
  for (; event->type != espeakEVENT_LIST_TERMINATED; event++) {
    if (event->type == espeakEVENT_WORD) {
      fprintf(events, "word %d %d\n", event->audio_position, event->text_position);
    } else if (event->type == espeakEVENT_PHONEME) {
      fprintf(events, "phoneme %d %.8s\n", event->audio_position, event->id.string);
    } else if (event->type == espeakEVENT_END) {
      fprintf(events, "end %d\n", event->audio_position);
    }
  }
  if (samples && count > 0) {
    fwrite(samples, sizeof *samples, count, pcm);
    samples_written += count;
  }
  return 0;
}

int main(int count, char **arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: speak_jobs OUT.pcm OUT.events < jobs\n");
    return 2;
  }
  if (espeak_Initialize(AUDIO_OUTPUT_SYNCHRONOUS, 0, NULL, espeakINITIALIZE_PHONEME_EVENTS) != 22050) return 1;
  pcm = fopen(arguments[1], "wb");
  events = fopen(arguments[2], "w");
  if (!pcm || !events) return 1;
  espeak_SetSynthCallback(take);

  char job[2048];
  while (fgets(job, sizeof job, stdin)) {
    job[strcspn(job, "\n")] = 0;
    const char *voice = strtok(job, "\t");
    const char *rate = strtok(NULL, "\t");
    const char *pitch = strtok(NULL, "\t");
    const char *range = strtok(NULL, "\t");
    const char *text = strtok(NULL, "\t");
    if (!text) return 2;
    long first = samples_written;
    fprintf(events, "job %ld\n", first);
    int failed = espeak_SetVoiceByName(voice) != EE_OK;
    if (!failed) {
      espeak_SetParameter(espeakRATE, atoi(rate), 0);
      espeak_SetParameter(espeakPITCH, atoi(pitch), 0);
      espeak_SetParameter(espeakRANGE, atoi(range), 0);
      espeak_Synth(text, strlen(text) + 1, 0, POS_CHARACTER, 0, espeakCHARS_UTF8, NULL, NULL);
      espeak_Synchronize();
    }
    fprintf(events, "done %ld %d\n", samples_written - first, failed);
  }
  return fclose(pcm) || fclose(events);
}
