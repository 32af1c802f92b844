import type { SpeechSpan } from "../alignment/fit-words.ts";
import {
  MIN_SILENCE_WINDOWS,
  MIN_SPEECH_WINDOWS,
  type ScoredAudio,
  type SpeechSegment,
  speechSegments,
  WINDOW_SAMPLES,
  WINDOW_SECONDS,
} from "./voice-activity.ts";

/**
 * 160 ms of real audio at both ends of an utterance, as far as its neighbors permit. From 128 to 256 ms the
 * WER of sentences is the same within the spread (0.186 to 0.191); of 112 single words 62 were right with 160
 * ms, 56 with 256 ms.
 */
const PADDING_WINDOWS = 5;
/** A pause of two seconds ends an utterance; with one second, sentences of slow speakers lose their context. */
const LONG_SILENCE_WINDOWS = Math.round(2 / WINDOW_SECONDS);
/** How much must follow the longest utterance before its end and the start of the next one are known. */
const LOOK_AHEAD_WINDOWS = 2 * PADDING_WINDOWS + MIN_SPEECH_WINDOWS + MIN_SILENCE_WINDOWS;

/** Mono audio that contains speech, cut at pauses. */
export interface Utterance {
  /** At 16 kHz, −1 … 1. */
  samples: Float32Array;
  /** Seconds of the media at the first sample. */
  start: number;
}

/** A span of speech, in seconds of the media. */
export interface ScoredSpeechSpan extends SpeechSpan {
  /** Mean speech probability of its windows, 0 … 1. */
  probability: number;
}

/** An utterance with its spans of speech. */
export interface SpokenUtterance extends Utterance {
  speech: ScoredSpeechSpan[];
}

/** The utterances in a few more minutes of a recording. */
export interface UtteranceGroup {
  utterances: SpokenUtterance[];
  /** Up to this second of the media, all speech is in this group or an earlier one. */
  settledSeconds: number;
}

/**
 * Packs speech into utterances as long as the engine accepts, cut at pauses. Utterances come in order and
 * never overlap; every window of speech is in exactly one. Holds at most one block of `scored` and the
 * longest utterance.
 * @param audioOffset Seconds of the media at the first sample.
 */
export async function* packUtterances(
  scored: AsyncIterable<ScoredAudio>,
  maxUtteranceSeconds: number,
  audioOffset = 0,
): AsyncGenerator<UtteranceGroup> {
  const packer = new UtterancePacker(Math.floor(maxUtteranceSeconds / WINDOW_SECONDS), audioOffset);
  for await (const audio of scored) yield packer.add(audio);
  yield packer.finish();
}

class UtterancePacker {
  readonly #maxWindows: number;
  readonly #audioOffset: number;
  readonly #audio = new PendingAudio();
  #probabilities: Float32Array = new Float32Array(0);
  #speaking = false;
  /** Windows of the recording before those held. */
  #dropped = 0;

  constructor(maxWindows: number, audioOffset: number) {
    this.#maxWindows = maxWindows;
    this.#audioOffset = audioOffset;
  }

  add({ samples, probabilities }: ScoredAudio): UtteranceGroup {
    this.#audio.add(samples);
    this.#probabilities = joined(this.#probabilities, probabilities);
    const group = this.#take(false);
    this.#audio.keep();
    return group;
  }

  finish(): UtteranceGroup {
    return this.#take(true);
  }

  #take(ended: boolean): UtteranceGroup {
    const utterances: SpokenUtterance[] = [];
    for (;;) {
      const plan = planUtterance(this.#probabilities, {
        maxWindows: this.#maxWindows,
        speaking: this.#speaking,
        ended,
      });
      if (plan.segments.length > 0) utterances.push(this.#cut(plan));
      this.#drop(plan);
      if (plan.segments.length === 0) break;
    }
    return { utterances, settledSeconds: this.#seconds(0) };
  }

  #cut({ start, end, segments }: UtterancePlan): SpokenUtterance {
    return {
      samples: this.#audio.slice(start * WINDOW_SAMPLES, end * WINDOW_SAMPLES),
      start: this.#seconds(start),
      speech: segments.map((segment) => ({
        start: this.#seconds(segment.start),
        end: this.#seconds(segment.end),
        probability: meanOf(this.#probabilities.subarray(segment.start, segment.end)),
      })),
    };
  }

  /** Of the media. */
  #seconds(window: number): number {
    return this.#audioOffset + (this.#dropped + window) * WINDOW_SECONDS;
  }

  #drop({ end, speaking }: UtterancePlan): void {
    this.#audio.drop(end * WINDOW_SAMPLES);
    this.#probabilities = this.#probabilities.subarray(end);
    this.#dropped += end;
    this.#speaking = speaking;
  }
}

/** Audio that is not yet cut into utterances. Copies only the samples of a block that are needed after it. */
class PendingAudio {
  /** Reused: allocating memory for each block would cost more than the packing. */
  #memory = new Float32Array(0);
  #kept: Float32Array = this.#memory;
  #added: Float32Array = this.#memory;

  /** @param samples borrowed until `keep` is called */
  add(samples: Float32Array): void {
    this.#added = samples;
  }

  /** A copy. */
  slice(start: number, end: number): Float32Array {
    const kept = this.#kept.subarray(start, end);
    const from = this.#kept.length;
    const samples = new Float32Array(end - start);
    samples.set(kept);
    samples.set(this.#added.subarray(Math.max(0, start - from), Math.max(0, end - from)), kept.length);
    return samples;
  }

  drop(count: number): void {
    this.#added = this.#added.subarray(Math.max(0, count - this.#kept.length));
    this.#kept = this.#kept.subarray(count);
  }

  /** Copies the remaining samples. */
  keep(): void {
    const length = this.#kept.length + this.#added.length;
    // The held audio grows with each block, up to the longest utterance.
    const memory = length > this.#memory.length ? new Float32Array(Math.ceil(1.25 * length)) : this.#memory;
    memory.set(this.#kept);
    memory.set(this.#added, this.#kept.length);
    this.#memory = memory;
    this.#kept = memory.subarray(0, length);
    this.#added = memory.subarray(0, 0);
  }
}

/** Position of the next utterance, in windows; `end` is the first window after it. */
interface UtterancePlan {
  start: number;
  /** Windows before it are settled. */
  end: number;
  /** Speech in it; empty if there is none, or if more windows are needed first. */
  segments: SpeechSegment[];
  /** Whether speech continues at `end`, because continuous speech had to be cut. */
  speaking: boolean;
}

interface PlanOptions {
  maxWindows: number;
  /** Whether speech is in progress at the first window. */
  speaking: boolean;
  /** Whether no more windows will follow. */
  ended: boolean;
}

/** Looks no further than the longest utterance, so that the plan does not depend on how the audio arrives. */
function planUtterance(probabilities: Float32Array, options: PlanOptions): UtterancePlan {
  const { maxWindows, speaking, ended } = options;
  const settled = (windows: number): UtterancePlan => {
    const end = Math.max(0, windows);
    return { start: 0, end, segments: [], speaking: speaking && end === 0 };
  };
  const first = speechSegments(probabilities, speaking)[0];
  if (first === undefined) return settled(probabilities.length - (ended ? 0 : PADDING_WINDOWS));

  const start = Math.max(0, first.start - PADDING_WINDOWS);
  const horizon = start + maxWindows + LOOK_AHEAD_WINDOWS;
  if (probabilities.length < horizon && !ended) return settled(start);

  const segments = speechSegments(probabilities.subarray(0, horizon), speaking);
  const count = segmentsThatFit(segments, start, maxWindows);
  if (count === 0) return cutInSpeech(probabilities, first, start, maxWindows);

  const end = segments[count - 1]!.end;
  const next = segments[count]?.start ?? Math.min(horizon, probabilities.length);
  const padding = Math.min(PADDING_WINDOWS, Math.floor((next - end) / 2), start + maxWindows - end);
  return { start, end: end + padding, segments: segments.slice(0, count), speaking: false };
}

/**
 * Number of segments in the utterance that starts at `start`: up to a long silence, else up to the longest
 * pause in the second half of the allowed length, else up to the last pause.
 */
function segmentsThatFit(segments: readonly SpeechSegment[], start: number, maxWindows: number): number {
  let best = 0;
  let longestPause = 0;
  for (const [index, segment] of segments.entries()) {
    if (segment.end - start > maxWindows) return best;
    const next = segments[index + 1];
    const pause = next === undefined ? Number.POSITIVE_INFINITY : next.start - segment.end;
    if (pause >= LONG_SILENCE_WINDOWS) return index + 1;
    const late = segment.end - start >= maxWindows / 2;
    if (!late || pause >= longestPause) best = index + 1;
    if (late) longestPause = Math.max(longestPause, pause);
  }
  return best;
}

/**
 * Cuts speech that is longer than an utterance may be at the least likely window near the end of the allowed
 * length, but early enough to leave something for the next utterance.
 */
function cutInSpeech(
  probabilities: Float32Array,
  first: SpeechSegment,
  start: number,
  maxWindows: number,
): UtterancePlan {
  const latest = start + Math.floor(maxWindows * 0.95);
  let cut = latest;
  let least = Number.POSITIVE_INFINITY;
  for (let window = start + Math.ceil(maxWindows * 0.6); window <= latest; window++) {
    const [before = 1, here = 1, after = 1] = probabilities.subarray(window - 1, window + 2);
    const likelihood = before + 2 * here + after;
    if (likelihood > least) continue;
    least = likelihood;
    cut = window;
  }
  return { start, end: cut, segments: [{ start: first.start, end: cut }], speaking: true };
}

function meanOf(values: Float32Array): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function joined(left: Float32Array, right: Float32Array): Float32Array {
  const both = new Float32Array(left.length + right.length);
  both.set(left);
  both.set(right, left.length);
  return both;
}
