import type { Checkpoint } from "./checkpoints/checkpoint.ts";
import { CheckpointCache } from "./checkpoints/checkpoint-cache.ts";
import { decodeUtterances } from "./decode-utterances.ts";
import { withVocabulary } from "./engines/vocabulary.ts";
import { SpeechError } from "./errors.ts";
import { RemainingTime } from "./lib/remaining-time.ts";
import { StageTimer } from "./lib/stage-timer.ts";
import { chooseAudibleTrack } from "./media/audible-track.ts";
import type { Decoder, Probe } from "./media/media.ts";
import { createRecognizer, type Engines } from "./recognition/recognizer.ts";
import type { TranscribeProgress, TranscribeResult } from "./transcript.ts";
import type { VoiceActivityDetector } from "./vad/voice-activity.ts";
import type { Waveform } from "./waveform.ts";

/**
 * Longest utterance for the bundled engine. Shorter utterances lack the context of the sentence; longer ones cost more per
 * word. Other engines get the longest utterances that they accept, because their cost per utterance is constant.
 */
const BUNDLED_UTTERANCE_SECONDS = 20;

export interface TranscribeOptions {
  decoder: Decoder;
  engines: Engines;
  voiceActivity: VoiceActivityDetector;
  /** Longer recordings fail with `media_too_long`. */
  maxDurationSeconds: number;
  signal: AbortSignal;
  /** Called whenever more words are final. */
  onProgress?: (progress: TranscribeProgress) => void;
  /** Called once: when the recording is decoded, or when the transcription fails before. Not called without audio. */
  onWaveform?: (waveform: Waveform) => void;
  /** Checkpoints of earlier attempts at the same recording, in any order. They save time and do not change the result. */
  checkpoints?: readonly Checkpoint[];
  /** Names and terms that may be spoken, most important first. The bundled engine ignores them. */
  vocabulary?: readonly string[];
  /** Called between batches with the results since the last call. */
  onCheckpoint?: (checkpoint: Checkpoint) => void;
  /** Minimum wall-clock time between two checkpoints; 0 by default. */
  checkpointIntervalSeconds?: number;
}

/**
 * Transcribes a file: decode → voice activity → utterances → language, recognition, alignment and filters → words. If
 * each channel has one speaker, the channels pass through the stages separately, and their words are merged. The stages
 * are streams that work ahead by a limited amount, so memory does not grow with the duration of the recording.
 * @param path absolute
 * @throws SpeechError
 */
export async function transcribe(path: string, options: TranscribeOptions): Promise<TranscribeResult> {
  const { decoder, voiceActivity, onCheckpoint, checkpoints = [], vocabulary = [] } = options;
  const cache = new CheckpointCache(checkpoints, { recordsNew: onCheckpoint !== undefined });
  const cached = cache.wrapEngines(options.engines);
  const multilingual = cached.multilingual && withVocabulary(cached.multilingual, vocabulary);
  const engines = { ...cached, multilingual };
  const timer = new StageTimer();
  // Stops prefetching after an error.
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, ended.signal]);

  const headers = await timer.time("probe", () => decoder.probe(path, signal));
  const { duration } = headers;
  if (headers.audioStream === null) return { outcome: "skipped", reason: "no_audio_track", duration };

  const { maxDurationSeconds } = options;
  const probe = await timer.time("probe", () =>
    chooseAudibleTrack(decoder, path, { probe: headers, maxDurationSeconds, signal }),
  );
  const { audioTrack } = probe;
  const report = progressReporter(probe, cache.settledSeconds, options.onProgress);
  report(cache.settledSeconds);
  const score = (block: Float32Array, preceding: Float32Array) =>
    timer.time("voiceActivity", () => voiceActivity.probabilities(block, preceding, signal));
  const { groups, waveform, hasChannels, summary } = await decodeUtterances(decoder, path, {
    ...{ probe, maxDurationSeconds, signal, timer },
    scores: (channel) => cache.wrapScore(score, channel),
    maxUtteranceSeconds: maxUtteranceSeconds(engines),
    onWaveform: options.onWaveform,
  });

  const recognizer = createRecognizer(engines, hasChannels);
  const saveCheckpoint = checkpointWriter(cache, options);
  const onSettled = (settledSeconds: number) => {
    report(settledSeconds);
    saveCheckpoint(settledSeconds);
  };
  try {
    for await (const { utterances, settledSeconds } of groups) {
      await timer.time("engine", () => recognizer.recognize(utterances, { signal, onSettled }));
      report(settledSeconds, recognizer.heldBackSeconds);
      saveCheckpoint(settledSeconds);
    }
  } catch (error) {
    options.signal.throwIfAborted();
    waveform.endEarly();
    throw error;
  } finally {
    ended.abort();
  }

  const { skipReason, incomplete, duration: measured } = summary();
  if (skipReason !== null && probe.hasUndecodableTrack) {
    throw new SpeechError("undecodable_audio", "One audio track is silent and another cannot be decoded.");
  }
  if (skipReason !== null) return { outcome: "skipped", reason: skipReason, duration: measured };
  const recognized = await timer.time("engine", () =>
    recognizer.finish(measured, { signal: options.signal, onSettled: report }),
  );
  report(duration ?? measured);
  return {
    outcome: "transcribed",
    ...recognized,
    duration: measured,
    engine:
      engineOfMostWords(recognized.languageSegments) ?? (engines.multilingual ?? engines.bundled)?.name ?? "",
    decoder: decoder.name,
    audioTrack: audioTrack === headers.audioTrack ? null : audioTrack,
    incomplete,
    stages: timer.stages(),
  };
}

function maxUtteranceSeconds({ bundled, multilingual, bundledTakesEnglish }: Engines): number {
  const longest = (engine: { maxUtteranceSeconds: number } | null) =>
    engine?.maxUtteranceSeconds ?? Number.POSITIVE_INFINITY;
  if (multilingual === null) return Math.min(longest(bundled), BUNDLED_UTTERANCE_SECONDS);
  return Math.min(longest(multilingual), longest(bundledTakesEnglish ? bundled : null));
}

function engineOfMostWords(segments: readonly { engine: string; words: number }[]): string | null {
  const words = new Map<string, number>();
  for (const segment of segments) {
    words.set(segment.engine, (words.get(segment.engine) ?? 0) + segment.words);
  }
  return [...words].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? null;
}

/** Returns a function that emits checkpoints at intervals. Its argument is the time up to which words are final. */
function checkpointWriter(
  cache: CheckpointCache,
  { onCheckpoint, checkpointIntervalSeconds = 0 }: TranscribeOptions,
): (settledSeconds: number) => void {
  let last = performance.now();
  return (settledSeconds) => {
    if (onCheckpoint === undefined || performance.now() - last < checkpointIntervalSeconds * 1000) return;
    last = performance.now();
    const checkpoint = cache.takeCheckpoint(settledSeconds);
    if (checkpoint !== null) onCheckpoint(checkpoint);
  };
}

/**
 * Returns a function that reports progress. Its arguments are the time up to which the media has been read, and how much
 * of it is held back. Reported progress never decreases. It stays the same while a resumed transcription replays the part
 * that its checkpoints cover.
 * @param cachedSeconds end of the part that checkpoints cover, whose speed is not used to estimate the remaining time
 */
function progressReporter(
  { duration }: Probe,
  cachedSeconds: number,
  onProgress: ((progress: TranscribeProgress) => void) | undefined,
): (settledSeconds: number, heldBackSeconds?: number) => void {
  const remaining = new RemainingTime();
  let furthest = -1;
  return (settledSeconds, heldBackSeconds = 0) => {
    const done = Math.min(
      Math.max(0, settledSeconds - heldBackSeconds),
      duration ?? Number.POSITIVE_INFINITY,
    );
    const isRepeated = settledSeconds < cachedSeconds;
    if (isRepeated) remaining.beginAt(done, performance.now());
    if (done <= furthest && !isRepeated) return;
    furthest = Math.max(furthest, done);
    onProgress?.({
      done: furthest,
      duration,
      remainingSeconds: isRepeated ? null : remaining.after(done, duration, performance.now()),
    });
  };
}
