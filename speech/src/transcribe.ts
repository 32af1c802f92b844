import type { KeptStretch } from "./checkpoints/checkpoint.ts";
import { AnswerBook } from "./checkpoints/checkpoint-cache.ts";
import { SpeechError } from "./errors.ts";
import { ahead } from "./lib/prefetch.ts";
import { RemainingTime } from "./lib/remaining-time.ts";
import { StageTimer } from "./lib/stage-timer.ts";
import { chooseAudibleTrack } from "./media/audible-track.ts";
import type { Decoder, Probe } from "./media/media.ts";
import { createListener, type Engines } from "./recognition/recognizer.ts";
import type { TranscribeProgress, TranscribeResult } from "./transcript.ts";
import { packUtterances } from "./vad/utterances.ts";
import { scoreAudio, type VoiceActivity } from "./vad/voice-activity.ts";
import { type Waveform, WaveformReport } from "./waveform.ts";

/**
 * Where the bundled engine hears alone: shorter utterances tell it too little of the sentence, longer ones
 * cost more for each word. Engines of many languages take the longest they can, for each costs them the same.
 */
const GOOD_UTTERANCE_SECONDS = 20;
/** Chunks that are decoded while voice activity is at work: some seconds. */
const CHUNKS_AHEAD = 4;
/** Groups of utterances, a few minutes each, that are made ready while the engine hears the one before. */
const GROUPS_AHEAD = 1;

export interface TranscribeOptions {
  decoder: Decoder;
  engines: Engines;
  voiceActivity: VoiceActivity;
  /** Seconds; a longer recording throws `media_too_long`. */
  maxDurationSeconds: number;
  signal: AbortSignal;
  /** Called whenever more words are settled: several times a minute, and at most every few milliseconds. */
  onProgress?: (progress: TranscribeProgress) => void;
  /**
   * Called once: as soon as the whole recording is decoded, or where an error has ended that. Never called
   * where there is no audio.
   */
  onWaveform?: (waveform: Waveform) => void;
  /**
   * What was kept of earlier work on the same recording, in any order, all or some of it. The result is the
   * same as without; what an engine has answered is not asked of it again.
   */
  kept?: readonly KeptStretch[];
  /** Called after each batch with what was heard since the last call, for whoever keeps it … */
  onStretch?: (stretch: KeptStretch) => void;
  /** … and not before so many seconds of work, by the clock, have gone by since then. */
  keepEverySeconds?: number;
}

/**
 * Transcribes one file: decode → voice activity → utterances → listener → words, streamed, so that memory
 * stays the same however long the recording is. Each part works ahead of the next by a bounded piece.
 * @param path absolute
 * @throws SpeechError
 */
export async function transcribe(path: string, options: TranscribeOptions): Promise<TranscribeResult> {
  const { decoder, voiceActivity, onStretch, kept = [] } = options;
  const book = new AnswerBook(kept, { keeps: onStretch !== undefined });
  const engines = book.engines(options.engines);
  const timer = new StageTimer();
  // What works ahead is stopped also where an error, not the caller, ends the work.
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
  const samples = ahead(waveform.measure(timer.timeEach("decode", audio.chunks)), CHUNKS_AHEAD);
  const score = book.scores((block, preceding) =>
    timer.time("voiceActivity", () => voiceActivity.probabilities(block, preceding, signal)),
  );
  const scored = scoreAudio(samples, score);
  const packed = packUtterances(scored, utteranceSeconds(engines), audioOffset);
  const groups = ahead(waveform.markSpeech(packed), GROUPS_AHEAD);

  const listener = createListener(engines);
  const report = progressOf(probe, book.settledSeconds, options.onProgress);
  report(book.settledSeconds);
  const keep = keeper(book, options);
  const onHeard = (settledSeconds: number) => {
    report(settledSeconds);
    keep(settledSeconds);
  };
  try {
    for await (const { utterances, settledSeconds } of groups) {
      await timer.time("engine", () => listener.hear(utterances, { signal, onHeard }));
      onHeard(settledSeconds);
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
      "The audio that can be decoded is silent; another track cannot be.",
    );
  }
  if (nothing !== null) return { outcome: "skipped", reason: nothing, duration: measured };
  report(duration ?? measured);
  const heard = await timer.time("engine", () =>
    listener.finish(measured, { signal: options.signal, onHeard: report }),
  );
  return {
    outcome: "transcribed",
    ...heard,
    duration: measured,
    engine: engineOfMostWords(heard.stretches) ?? (engines.multilingual ?? engines.bundled)?.name ?? "",
    decoder: decoder.name,
    audioTrack: audioTrack === headers.audioTrack ? null : audioTrack,
    incomplete,
    stages: timer.stages(),
  };
}

function utteranceSeconds({ bundled, multilingual, bundledTakesEnglish }: Engines): number {
  const longest = (engine: { maxUtteranceSeconds: number } | null) =>
    engine?.maxUtteranceSeconds ?? Number.POSITIVE_INFINITY;
  if (multilingual === null) return Math.min(longest(bundled), GOOD_UTTERANCE_SECONDS);
  return Math.min(longest(multilingual), longest(bundledTakesEnglish ? bundled : null));
}

function engineOfMostWords(stretches: readonly { engine: string; words: number }[]): string | null {
  const words = new Map<string, number>();
  for (const stretch of stretches) {
    words.set(stretch.engine, (words.get(stretch.engine) ?? 0) + stretch.words);
  }
  return [...words].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? null;
}

/** Takes seconds of the media that are settled; gives away what was heard, now and then. */
function keeper(
  book: AnswerBook,
  { onStretch, keepEverySeconds = 0 }: TranscribeOptions,
): (settledSeconds: number) => void {
  let last = performance.now();
  return (settledSeconds) => {
    if (onStretch === undefined || performance.now() - last < keepEverySeconds * 1000) return;
    last = performance.now();
    const stretch = book.takeNew(settledSeconds);
    if (stretch !== null) onStretch(stretch);
  };
}

/**
 * Takes seconds of the media that are settled; tells only what is news, never a step back.
 * @param keptSeconds Settled by earlier work, which tells nothing of the pace.
 */
function progressOf(
  { duration }: Probe,
  keptSeconds: number,
  onProgress: ((progress: TranscribeProgress) => void) | undefined,
): (settledSeconds: number) => void {
  const remaining = new RemainingTime();
  let furthest = -1;
  return (settledSeconds) => {
    const done = Math.min(Math.max(0, settledSeconds), duration ?? Number.POSITIVE_INFINITY);
    if (settledSeconds < keptSeconds) remaining.beginAt(done, performance.now());
    if (done <= furthest) return;
    furthest = done;
    onProgress?.({
      done,
      duration,
      remainingSeconds: remaining.after(done, duration, performance.now()),
    });
  };
}
