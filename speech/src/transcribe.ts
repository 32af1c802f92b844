import type { Engine, Hearing } from "./engine.ts";
import type { Decoder } from "./media/media.ts";
import { StageTimer } from "./stage-timer.ts";
import type { TimedWord, TranscribeProgress, TranscribeResult } from "./transcript.ts";
import { packUtterances, type SpokenUtterance } from "./utterances.ts";
import { scoreAudio, type VoiceActivity } from "./voice-activity.ts";
import { inOrder, trimAtPauses } from "./word-times.ts";

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
  const report = throttled(options.onProgress);

  const groups = packUtterances(scored, Math.min(engine.maxUtteranceSeconds, GOOD_UTTERANCE_SECONDS));

  const words: TimedWord[] = [];
  let voiced = 0;
  for await (const { utterances, settledSeconds } of groups) {
    const placed = utterances.map((utterance) => shifted(utterance, audioOffset));
    const hearings = await timer.time("engine", () => hearAll(engine, placed, signal));
    for (const [index, { words: heard }] of hearings.entries()) {
      words.push(...trimAtPauses(heard, placed[index]!.speech));
      voiced += spokenSeconds(placed[index]!);
    }
    report({ done: settledSeconds, duration });
  }

  const summary = audio.summary();
  if (summary.nothing !== null) {
    return { outcome: "skipped", reason: summary.nothing, duration: summary.duration };
  }
  return {
    outcome: "transcribed",
    words: inOrder(words, summary.duration),
    language: words.length === 0 ? "zxx" : "en",
    duration: summary.duration,
    voiced: Math.round(voiced * 1000) / 1000,
    engine: engine.name,
    decoder: decoder.name,
    incomplete: summary.incomplete,
    stages: timer.stages(),
  };
}

/** Hears utterances in batches of like length, for each batch costs as much as its longest; keeps order. */
async function hearAll(
  engine: Engine,
  utterances: readonly SpokenUtterance[],
  signal: AbortSignal,
): Promise<Hearing[]> {
  const byLength = [...utterances.keys()].sort(
    (left, right) => utterances[left]!.samples.length - utterances[right]!.samples.length,
  );
  const batches = Math.ceil(utterances.length / engine.batchSize);
  const size = Math.ceil(utterances.length / batches);
  const hearings: Hearing[] = [];
  for (let first = 0; first < byLength.length; first += size) {
    const batch = byLength.slice(first, first + size);
    const heard = await engine.hear(
      batch.map((index) => utterances[index]!),
      signal,
    );
    for (const [place, index] of batch.entries()) hearings[index] = heard[place]!;
  }
  return hearings;
}

function shifted(utterance: SpokenUtterance, seconds: number): SpokenUtterance {
  return {
    samples: utterance.samples,
    start: utterance.start + seconds,
    speech: utterance.speech.map(({ start, end }) => ({ start: start + seconds, end: end + seconds })),
  };
}

function spokenSeconds({ speech }: SpokenUtterance): number {
  return speech.reduce((sum, { start, end }) => sum + end - start, 0);
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
