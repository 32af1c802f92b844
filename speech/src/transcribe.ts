import type { Checkpoint } from "./checkpoints/checkpoint.ts";
import { CheckpointCache } from "./checkpoints/checkpoint-cache.ts";
import { SpeechError } from "./errors.ts";
import { prefetch } from "./lib/prefetch.ts";
import { RemainingTime } from "./lib/remaining-time.ts";
import { StageTimer } from "./lib/stage-timer.ts";
import { chooseAudibleTrack } from "./media/audible-track.ts";
import type { Decoder, Probe } from "./media/media.ts";
import { createRecognizer, type Engines } from "./recognition/recognizer.ts";
import type { TranscribeProgress, TranscribeResult } from "./transcript.ts";
import { packUtterances } from "./vad/utterances.ts";
import { scoreAudio, type VoiceActivityDetector } from "./vad/voice-activity.ts";
import { type Waveform, WaveformReport } from "./waveform.ts";

/**
 * Longest utterance for the bundled engine: in shorter ones it lacks the context of the sentence, longer ones
 * cost more per word. Multilingual engines get the longest utterances that they accept, because each costs the same.
 */
const BUNDLED_UTTERANCE_SECONDS = 20;
/** Number of chunks that are decoded ahead of voice activity detection: a few seconds of audio. */
const PREFETCHED_CHUNKS = 4;
/** Groups of utterances, a few minutes each, that are prepared while the engine works on the one before. */
const PREFETCHED_GROUPS = 1;

export interface TranscribeOptions {
  decoder: Decoder;
  engines: Engines;
  voiceActivity: VoiceActivityDetector;
  /** Seconds; a longer recording throws `media_too_long`. */
  maxDurationSeconds: number;
  signal: AbortSignal;
  /** Called whenever more words are final: several times a minute, and at most every few milliseconds. */
  onProgress?: (progress: TranscribeProgress) => void;
  /** Called once, when the whole recording is decoded or an error has ended decoding. Never called without audio. */
  onWaveform?: (waveform: Waveform) => void;
  /**
   * Checkpoints of earlier work on the same recording, any of them in any order. The result is the same as without;
   * what they contain is not computed again.
   */
  checkpoints?: readonly Checkpoint[];
  /** Called after a batch with the results since the last call … */
  onCheckpoint?: (checkpoint: Checkpoint) => void;
  /** … if so many seconds of wall-clock time have passed since then. */
  checkpointIntervalSeconds?: number;
}

/**
 * Transcribes one file: decode → voice activity → utterances → language, recognition, alignment and filters → words.
 * Streams, so memory does not grow with the length of the recording. Each stage works ahead of the next by a bounded
 * amount.
 * @param path absolute
 * @throws SpeechError
 */
export async function transcribe(path: string, options: TranscribeOptions): Promise<TranscribeResult> {
  const { decoder, voiceActivity, onCheckpoint, checkpoints = [] } = options;
  const cache = new CheckpointCache(checkpoints, { recordsNew: onCheckpoint !== undefined });
  const engines = cache.engines(options.engines);
  const timer = new StageTimer();
  // Stops prefetching also if an error, not the caller, ends the work.
  const left = new AbortController();
  const signal = AbortSignal.any([options.signal, left.signal]);

  const headers = await timer.time("probe", () => decoder.probe(path, signal));
  const { duration } = headers;
  if (headers.audioStream === null) return { outcome: "skipped", reason: "no_audio_track", duration };

  const { maxDurationSeconds } = options;
  const probe = await timer.time("probe", () =>
    chooseAudibleTrack(decoder, path, { probe: headers, maxDurationSeconds, signal }),
  );
  const { audioOffset, audioTrack } = probe;
  const audio = decoder.decode(path, { probe, maxDurationSeconds, signal });
  const waveform = new WaveformReport(audio, probe, options.onWaveform);
  const samples = prefetch(waveform.measure(timer.timeEach("decode", audio.chunks)), PREFETCHED_CHUNKS);
  const score = cache.scores((block, preceding) =>
    timer.time("voiceActivity", () => voiceActivity.probabilities(block, preceding, signal)),
  );
  const scored = scoreAudio(samples, score);
  const packed = packUtterances(scored, maxUtteranceSeconds(engines), audioOffset);
  const groups = prefetch(waveform.markSpeech(packed), PREFETCHED_GROUPS);

  const recognizer = createRecognizer(engines);
  const report = progressReporter(probe, cache.settledSeconds, options.onProgress);
  report(cache.settledSeconds);
  const saveCheckpoint = checkpointWriter(cache, options);
  const onSettled = (settledSeconds: number) => {
    report(settledSeconds);
    saveCheckpoint(settledSeconds);
  };
  try {
    for await (const { utterances, settledSeconds } of groups) {
      await timer.time("engine", () => recognizer.recognize(utterances, { signal, onSettled }));
      onSettled(settledSeconds);
    }
  } catch (error) {
    options.signal.throwIfAborted();
    waveform.endEarly();
    throw error;
  } finally {
    left.abort();
  }

  const { nothing, incomplete, duration: measured } = audio.summary();
  if (nothing !== null && probe.hasUndecodableTrack) {
    throw new SpeechError(
      "undecodable_audio",
      "The audio that can be decoded is silent; another track cannot be decoded.",
    );
  }
  if (nothing !== null) return { outcome: "skipped", reason: nothing, duration: measured };
  report(duration ?? measured);
  const recognized = await timer.time("engine", () =>
    recognizer.finish(measured, { signal: options.signal, onSettled: report }),
  );
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

/** Returns a function that takes how far words are final, in seconds of the media, and emits checkpoints at intervals. */
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
 * Returns a function that takes how far words are final, in seconds of the media. Progress never goes back. While a
 * resumed transcription repeats what its checkpoints hold, the same progress is reported again.
 * @param cachedSeconds Settled by checkpoints, whose speed says nothing about the rest.
 */
function progressReporter(
  { duration }: Probe,
  cachedSeconds: number,
  onProgress: ((progress: TranscribeProgress) => void) | undefined,
): (settledSeconds: number) => void {
  const remaining = new RemainingTime();
  let furthest = -1;
  return (settledSeconds) => {
    const done = Math.min(Math.max(0, settledSeconds), duration ?? Number.POSITIVE_INFINITY);
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
