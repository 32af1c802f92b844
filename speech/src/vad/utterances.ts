import type { SpeechSpan } from "../alignment/fit-words.ts";
import type { Channel } from "../transcript.ts";
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
 * Audio kept before and after an utterance's speech (160 ms), if neighboring utterances leave room. From 128 to 256 ms,
 * the WER of sentences is about the same (0.186 to 0.191). Of 112 single words, 62 were correct with 160 ms and 56 with
 * 256 ms.
 */
const PADDING_WINDOWS = 5;
/** A pause of two seconds ends an utterance. With one second, sentences of slow speakers would lose their context. */
const LONG_SILENCE_WINDOWS = Math.round(2 / WINDOW_SECONDS);
/** Windows after the longest utterance that are needed to determine its end and the start of the next. */
const LOOK_AHEAD_WINDOWS = 2 * PADDING_WINDOWS + MIN_SPEECH_WINDOWS + MIN_SILENCE_WINDOWS;

/** Mono audio that contains speech, cut at pauses. */
export interface Utterance {
  /** At 16 kHz, −1 … 1. */
  samples: Float32Array;
  /** Time of the first sample in the media, seconds. */
  start: number;
  /** Omitted if the recording's channels were mixed. */
  channel?: Channel;
}

/** A span of speech, in seconds of the media. */
export interface ScoredSpeechSpan extends SpeechSpan {
  /** Mean speech probability, 0 … 1. */
  probability: number;
}

export interface SpokenUtterance extends Utterance {
  speech: ScoredSpeechSpan[];
}

/** The utterances in the next few minutes of a recording. */
export interface UtteranceGroup {
  utterances: SpokenUtterance[];
  /** All speech before this time in the media is in this group or an earlier one. */
  settledSeconds: number;
}

/**
 * Divides speech at pauses into utterances of up to the maximum length, in order and without overlaps. Every window of
 * speech is in exactly one utterance. Buffers at most one block of `scored` plus one utterance of the maximum length.
 * @param audioOffset time of the first sample in the media, seconds
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
  /** Number of windows before the buffered ones. */
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

  /** Returns the time of a window in the media. */
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

/** Buffers audio that is not in an utterance yet. Copies only the samples of a block that are needed later. */
class PendingAudio {
  /** Reused, because an allocation for each block would be expensive. */
  #memory = new Float32Array(0);
  #kept: Float32Array = this.#memory;
  #added: Float32Array = this.#memory;

  /** @param samples must not change until `keep` is called */
  add(samples: Float32Array): void {
    this.#added = samples;
  }

  /** Returns a copy. */
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
    // Allocates extra space, because the buffered audio may grow with each block.
    const memory = length > this.#memory.length ? new Float32Array(Math.ceil(1.25 * length)) : this.#memory;
    memory.set(this.#kept);
    memory.set(this.#added, this.#kept.length);
    this.#memory = memory;
    this.#kept = memory.subarray(0, length);
    this.#added = memory.subarray(0, 0);
  }
}

/** The windows `[start, end)` of the next utterance. */
interface UtterancePlan {
  start: number;
  /** Windows before `end` are settled even if the plan contains no utterance. */
  end: number;
  /** Empty if there is no speech, or if more windows are needed first. */
  segments: SpeechSegment[];
  /** Whether continuous speech had to be cut at `end`. */
  speaking: boolean;
}

interface PlanOptions {
  maxWindows: number;
  /** Whether speech is in progress at the first window. */
  speaking: boolean;
  /** Whether the windows are the last of the recording. */
  ended: boolean;
}

/** Looks only a fixed distance ahead, so the plan does not depend on the block size. */
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
 * Returns the number of segments in the utterance that starts at `start`. It ends at the first long silence, else at the
 * longest pause in the second half of the maximum length, else at the last pause.
 */
function segmentsThatFit(segments: readonly SpeechSegment[], start: number, maxWindows: number): number {
  let best = 0;
  let longestPause = 0;
  for (const [index, segment] of segments.entries()) {
    if (segment.end - start > maxWindows) return best;
    const next = segments[index + 1];
    const pause = next === undefined ? Number.POSITIVE_INFINITY : next.start - segment.end;
    if (pause >= LONG_SILENCE_WINDOWS) return index + 1;
    const isSecondHalf = segment.end - start >= maxWindows / 2;
    if (!isSecondHalf || pause >= longestPause) best = index + 1;
    if (isSecondHalf) longestPause = Math.max(longestPause, pause);
  }
  return best;
}

/** Cuts continuous speech at the window with the lowest speech probability near the end of the maximum length. */
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
