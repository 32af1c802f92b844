import type { Engine } from "./engine.ts";
import { HeardWords } from "./heard-words.ts";
import type { Decoder } from "./media/media.ts";
import { StageTimer } from "./stage-timer.ts";
import type { TranscribeProgress, TranscribeResult } from "./transcript.ts";
import { packUtterances } from "./utterances.ts";
import { scoreAudio, type VoiceActivity } from "./voice-activity.ts";

/** Shorter utterances tell the engine too little of the sentence, longer ones cost more for each word. */
const GOOD_UTTERANCE_SECONDS = 20;
const PROGRESS_INTERVAL_MS = 1_000;

export interface TranscribeOptions {
  decoder: Decoder;
  engine: Engine;
  voiceActivity: VoiceActivity;
  /** Seconds; a longer recording throws `media_too_long`. */
  maxDurationSeconds: number;
  signal: AbortSignal;
  /** Called at most once a second. */
  onProgress?: (progress: TranscribeProgress) => void;
}

/**
 * Transcribes one file: decode → voice activity → utterances → engine → words, streamed, so that memory
 * stays the same however long the recording is.
 * @param path absolute
 * @throws SpeechError
 */
export async function transcribe(path: string, options: TranscribeOptions): Promise<TranscribeResult> {
  const { decoder, engine, voiceActivity, signal } = options;
  const timer = new StageTimer();

  const probe = await timer.time("probe", () => decoder.probe(path, signal));
  const { duration, audioOffset } = probe;
  if (probe.audioStream === null) return { outcome: "skipped", reason: "no_audio_track", duration };

  const audio = decoder.decode(path, { probe, maxDurationSeconds: options.maxDurationSeconds, signal });
  const samples = timer.timeEach("decode", audio.chunks);
  const scored = scoreAudio(samples, (block, preceding) =>
    timer.time("voiceActivity", () => voiceActivity.probabilities(block, preceding, signal)),
  );
  const maxUtteranceSeconds = Math.min(engine.maxUtteranceSeconds, GOOD_UTTERANCE_SECONDS);
  const groups = packUtterances(scored, maxUtteranceSeconds, audioOffset);

  const report = throttled(options.onProgress);
  report({ done: 0, duration });
  const heard = new HeardWords(engine.name);
  for await (const { utterances, settledSeconds } of groups) {
    const hearings = await timer.time("engine", () => engine.hear(utterances, { signal }));
    for (const [index, hearing] of hearings.entries()) heard.add(utterances[index]!, hearing);
    report({ done: settledSeconds, duration });
  }

  const { nothing, incomplete, duration: measured } = audio.summary();
  if (nothing !== null) return { outcome: "skipped", reason: nothing, duration: measured };
  return {
    outcome: "transcribed",
    words: heard.words(measured),
    language: heard.language(),
    duration: measured,
    voiced: heard.voiced,
    engine: engine.name,
    decoder: decoder.name,
    incomplete,
    stages: timer.stages(),
  };
}

function throttled(onProgress: ((progress: TranscribeProgress) => void) | undefined) {
  let last = Number.NEGATIVE_INFINITY;
  return (progress: TranscribeProgress) => {
    const now = performance.now();
    if (now - last < PROGRESS_INTERVAL_MS) return;
    last = now;
    onProgress?.(progress);
  };
}
