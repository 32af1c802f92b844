import { fileURLToPath } from "node:url";
import { InferenceSession, Tensor, type TypedTensor } from "onnxruntime-node";
import { SpeechError } from "../errors.ts";
import { isSilence, SAMPLE_RATE } from "../media/audio.ts";
import { release } from "../onnx/tensors.ts";
import { DIGITAL_SILENCE_DB, findBackground, findSilence, levelOf } from "./background.ts";
import { raiseQuietAudio } from "./quiet-audio.ts";

/** Samples per speech probability: 32 ms. */
export const WINDOW_SAMPLES = 512;
export const WINDOW_SECONDS = WINDOW_SAMPLES / SAMPLE_RATE;

/** Silero VAD v5 needs the end of the window before; without it, it misses a third of the speech. */
const CONTEXT_SAMPLES = 64;
const INPUT_SAMPLES = CONTEXT_SAMPLES + WINDOW_SAMPLES;
const STATE_SIZE = 128;

/**
 * Windows are scored in runs. A run starts from a fresh state, warmed up on the audio before it. Runs are
 * batched, which costs half as much as one call after the other, and a fresh state detects more: without
 * resets, the recurrent state degrades in noise (at 5 dB it finds 50 % of the speech, with resets 84 %).
 */
const RUN_WINDOWS = 938;
const WARM_UP_WINDOWS = 94;
const RUNS_PER_BATCH = 8;
const BLOCK_SAMPLES = RUNS_PER_BATCH * RUN_WINDOWS * WINDOW_SAMPLES;
/** What the first run of a block needs of the block before. */
const PRECEDING_SAMPLES = WARM_UP_WINDOWS * WINDOW_SAMPLES + CONTEXT_SAMPLES;

/** A few minutes of a recording with the speech probability of each window. */
export interface ScoredAudio {
  /**
   * A whole number of windows, padded with silence at the end of the recording. Valid until the next block is
   * requested.
   */
  samples: Float32Array;
  /** Of each window, 0 … 1. */
  probabilities: Float32Array;
}

/** Detects speech. */
export interface VoiceActivityDetector {
  /**
   * Returns the speech probability of each window of `samples` (a whole number of windows at 16 kHz).
   * @param preceding The audio directly before them, as far as available; empty at the beginning.
   */
  probabilities(samples: Float32Array, preceding: Float32Array, signal: AbortSignal): Promise<Float32Array>;
  close(): Promise<void>;
}

/**
 * Opens Silero VAD v5 (Silero Team, MIT), as packaged in `@ricky0123/vad-web`, on the CPU.
 * @throws SpeechError `model_unusable`
 */
export async function openVoiceActivityDetector({
  threads,
}: {
  threads: number;
}): Promise<VoiceActivityDetector> {
  try {
    const path = fileURLToPath(import.meta.resolve("@ricky0123/vad-web/dist/silero_vad_v5.onnx"));
    const session = await InferenceSession.create(path, {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      executionMode: "sequential",
    });
    return new SileroDetector(session);
  } catch (error) {
    throw new SpeechError("model_unusable", `The voice activity model does not load: ${error}`, {
      cause: error,
    });
  }
}

/** Windows that are scored in sequence; `end` is the first window after it. */
interface Run {
  start: number;
  end: number;
  /** Windows of digital silence used as warm-up, at least 94; 0 if it is warmed up on the audio before it. */
  silentWarmUp: number;
}

class SileroDetector implements VoiceActivityDetector {
  readonly #session: InferenceSession;
  readonly #sampleRate = new Tensor("int64", BigInt64Array.of(BigInt(SAMPLE_RATE)), []);
  /** The state after this many windows of digital silence; computed once, as far as needed. */
  readonly #statesAfterSilence: Float32Array[] = [new Float32Array(2 * STATE_SIZE)];

  constructor(session: InferenceSession) {
    this.#session = session;
  }

  async probabilities(samples: Float32Array, preceding: Float32Array, signal: AbortSignal) {
    signal.throwIfAborted();
    const probabilities = new Float32Array(samples.length / WINDOW_SAMPLES);
    const audio = new PrecededSamples(samples, preceding);
    const runs = planRuns(audio, probabilities.length);
    for (const isSilent of [false, true]) {
      // A batch takes as many steps as its longest run.
      const queue = runs
        .filter(({ silentWarmUp }) => silentWarmUp > 0 === isSilent)
        .toSorted((a, b) => b.end - b.start - (a.end - a.start));
      while (queue.length > 0) {
        await this.#scoreBatch(queue.splice(0, RUNS_PER_BATCH), audio, probabilities, signal);
      }
    }
    return probabilities;
  }

  /** Scores up to eight runs at once, the longest first: step `t` runs window `t` of every run. */
  async #scoreBatch(
    batch: readonly Run[],
    audio: PrecededSamples,
    probabilities: Float32Array,
    signal: AbortSignal,
  ): Promise<void> {
    const [longest] = batch as [Run];
    let state = await this.#initialStates(batch, signal);
    const input = new Float32Array(batch.length * INPUT_SAMPLES);
    const firstStep = longest.silentWarmUp > 0 ? 0 : -WARM_UP_WINDOWS;
    for (let step = firstStep; step < longest.end - longest.start; step++) {
      signal.throwIfAborted();
      for (const [row, { start }] of batch.entries()) {
        const from = (start + step) * WINDOW_SAMPLES - CONTEXT_SAMPLES;
        audio.copy(from, input, row * INPUT_SAMPLES, INPUT_SAMPLES);
      }
      const outputs = await this.#run(input, state);
      state = outputs.state;
      if (step < 0) continue;
      for (const [row, { start, end }] of batch.entries()) {
        if (start + step < end) probabilities[start + step] = outputs.probabilities[row]!;
      }
    }
    release([state]);
  }

  async #initialStates(batch: readonly Run[], signal: AbortSignal): Promise<StateTensor> {
    const layers: Float32Array[][] = [[], []];
    for (const { silentWarmUp } of batch) {
      const state = await this.#stateAfterSilence(silentWarmUp, signal);
      layers[0]!.push(state.subarray(0, STATE_SIZE));
      layers[1]!.push(state.subarray(STATE_SIZE));
    }
    return stateTensor(layers.flat());
  }

  async #stateAfterSilence(windows: number, signal: AbortSignal): Promise<Float32Array> {
    const states = this.#statesAfterSilence;
    const silence = new Float32Array(INPUT_SAMPLES);
    while (states.length <= windows) {
      signal.throwIfAborted();
      const { state } = await this.#run(silence, stateTensor([states.at(-1)!]));
      states.push(state.data);
    }
    return states[windows]!;
  }

  /** Runs one window of each run of a batch; `state` is invalid afterwards. */
  async #run(input: Float32Array, state: StateTensor) {
    const outputs = await this.#session.run({
      input: new Tensor("float32", input, [input.length / INPUT_SAMPLES, INPUT_SAMPLES]),
      state,
      sr: this.#sampleRate,
    });
    release([state]);
    return {
      probabilities: outputs.output!.data as Float32Array,
      state: outputs.stateN as StateTensor,
    };
  }

  close(): Promise<void> {
    return this.#session.release();
  }
}

type StateTensor = TypedTensor<"float32">;

/** Concatenates copies of the parts. */
function stateTensor(parts: readonly Float32Array[]): StateTensor {
  const values = Float32Array.from(parts.flatMap((part) => [...part]));
  return new Tensor("float32", values, [2, values.length / 2 / STATE_SIZE, STATE_SIZE]);
}

/**
 * Plans the runs that need inference. Background cannot contain recognizable speech, and inference over hours
 * of it would cost more than decoding, so a run ends where only background follows in it. Digital silence
 * ends a run too: the sound after it is scored as at the beginning of a recording. Everything else is scored
 * as if nothing were left out.
 */
function planRuns(audio: PrecededSamples, windows: number): Run[] {
  const sample = new Float32Array(WINDOW_SAMPLES);
  const levels = Array.from({ length: WARM_UP_WINDOWS + windows }, (_, index) =>
    levelOf(audio.window((index - WARM_UP_WINDOWS) * WINDOW_SAMPLES, sample)),
  );
  const background = findBackground(levels).slice(WARM_UP_WINDOWS);
  const silence = findSilence(levels).slice(WARM_UP_WINDOWS);
  const length = Math.ceil(windows / Math.ceil(windows / RUN_WINDOWS));
  const runs: Run[] = [];
  for (let next = 0; next < windows; next += length) {
    const last = Math.min(windows, next + length);
    for (let start = silence.indexOf(false, next); start >= 0 && start < last; ) {
      const silent = silence.indexOf(true, start);
      const limit = silent < 0 ? last : Math.min(last, silent);
      const end = start + background.slice(start, limit).lastIndexOf(false) + 1;
      const warmUp = levels.slice(start, start + WARM_UP_WINDOWS);
      const isSilent = warmUp.every((level) => level === DIGITAL_SILENCE_DB);
      const isFirst = levels.slice(next, start).every((level) => level === DIGITAL_SILENCE_DB);
      const silentWarmUp = isSilent ? WARM_UP_WINDOWS + (isFirst ? start - next : 0) : 0;
      if (end > start) runs.push({ start, end, silentWarmUp });
      start = limit === last ? last : silence.indexOf(false, limit);
    }
  }
  return runs;
}

/** Samples that can be read from before their beginning; unknown samples are silence. */
class PrecededSamples {
  readonly #samples: Float32Array;
  readonly #preceding: Float32Array;

  constructor(samples: Float32Array, preceding: Float32Array) {
    this.#samples = samples;
    this.#preceding = preceding;
  }

  /** Returns a window of samples; they are in `copy` if the window begins before the samples. */
  window(start: number, copy: Float32Array): Float32Array {
    if (start >= 0) return this.#samples.subarray(start, start + copy.length);
    this.copy(start, copy, 0, copy.length);
    return copy;
  }

  /** Copies `count` samples from `start` on to `place` and on. */
  copy(start: number, input: Float32Array, place: number, count: number): void {
    const end = start + count;
    if (start >= 0 && end <= this.#samples.length) {
      input.set(this.#samples.subarray(start, end), place);
      return;
    }
    const target = input.subarray(place, place + count).fill(0);
    this.#copyFrom(this.#preceding, start + this.#preceding.length, target);
    this.#copyFrom(this.#samples, start, target);
  }

  #copyFrom(source: Float32Array, start: number, target: Float32Array): void {
    const from = Math.max(0, start);
    const to = Math.min(source.length, start + target.length);
    if (from < to) target.set(source.subarray(from, to), from - start);
  }
}

/**
 * Scores a recording as it arrives, a few minutes (15 MB) at a time, in one reused buffer. Raises quiet audio.
 * @param score `VoiceActivityDetector.probabilities`, bound to its signal
 */
export async function* scoreAudio(
  chunks: AsyncIterable<Float32Array>,
  score: (samples: Float32Array, preceding: Float32Array) => Promise<Float32Array>,
): AsyncGenerator<ScoredAudio> {
  // Reused, because allocation would cost more than everything else here; shared, so that the worker thread
  // reads it without a copy.
  const bytes = (PRECEDING_SAMPLES + BLOCK_SAMPLES) * Float32Array.BYTES_PER_ELEMENT;
  const audio = new Float32Array(new SharedArrayBuffer(bytes));
  let preceding = audio.subarray(0, 0);
  for await (const samples of inBlocks(chunks, audio.subarray(PRECEDING_SAMPLES))) {
    raiseQuietAudio(samples);
    yield { samples, probabilities: await score(samples, preceding) };
    preceding = audio.subarray(0, PRECEDING_SAMPLES);
    preceding.set(audio.subarray(-PRECEDING_SAMPLES));
  }
}

/**
 * Collects chunks of any length in `block` and yields it whenever it is full; the last one is padded to a
 * whole window.
 */
async function* inBlocks(
  chunks: AsyncIterable<Float32Array>,
  block: Float32Array,
): AsyncGenerator<Float32Array> {
  let filled = 0;
  const zeros = new ZeroedSpans(block);
  for await (const chunk of chunks) {
    for (let taken = 0; taken < chunk.length; ) {
      const part = chunk.subarray(taken, taken + block.length - filled);
      if (isSilence(part)) zeros.fill(filled, filled + part.length);
      else {
        block.set(part, filled);
        zeros.overwritten(filled, filled + part.length);
      }
      filled += part.length;
      taken += part.length;
      if (filled === block.length) {
        yield block;
        filled = 0;
      }
    }
  }
  const end = Math.ceil(filled / WINDOW_SAMPLES) * WINDOW_SAMPLES;
  if (filled > 0) yield block.fill(0, filled, end).subarray(0, end);
}

/**
 * Tracks which windows of a block are still zero from the block before, so that hours of padding are not
 * written.
 */
class ZeroedSpans {
  readonly #block: Float32Array;
  readonly #isZero: Uint8Array;

  constructor(block: Float32Array) {
    this.#block = block;
    this.#isZero = new Uint8Array(Math.ceil(block.length / WINDOW_SAMPLES)).fill(1);
  }

  fill(start: number, end: number): void {
    for (let window = Math.floor(start / WINDOW_SAMPLES); window * WINDOW_SAMPLES < end; window++) {
      if (this.#isZero[window] === 1) continue;
      const [first, last] = [window * WINDOW_SAMPLES, (window + 1) * WINDOW_SAMPLES];
      this.#block.fill(0, Math.max(start, first), Math.min(end, last));
      if (start <= first && last <= end) this.#isZero[window] = 1;
    }
  }

  overwritten(start: number, end: number): void {
    this.#isZero.fill(0, Math.floor(start / WINDOW_SAMPLES), Math.ceil(end / WINDOW_SAMPLES));
  }
}

/** Consecutive windows of speech; `end` is the first window after it. */
export interface SpeechSegment {
  start: number;
  end: number;
}

const SPEECH_BEGINS = 0.5;
const SPEECH_ENDS = 0.35;
/** 96 ms: shorter silences are stop consonants inside words. */
export const MIN_SILENCE_WINDOWS = 3;
/** 192 ms: shorter sounds are the onset of music; a single word takes 250 ms. */
export const MIN_SPEECH_WINDOWS = 6;
/**
 * Minimum mean probability of a segment of up to a second: laughter, sirens and sweeps are sometimes detected
 * as speech, but not confidently (0.5 … 0.7; 36 of 51 segments of laughter are below). No single word was
 * below, down to 10 dB of noise (0.72 and more); of short segments of real recordings 1 in 53 was, at 5 dB of
 * noise 5 in 50.
 */
const SURE_OF_SHORT = 0.65;
const SHORT_WINDOWS = 32;

/**
 * Finds speech in consecutive window probabilities. A segment begins where the probability reaches 0.5 and
 * ends where it stays under 0.35. Gaps are at least 96 ms, segments at least 192 ms, and segments of up to a
 * second have a mean probability of at least 0.65. Only a segment that reaches the end may be shorter and
 * less likely, because it may continue.
 * @param speaking Whether speech is in progress at the first window.
 */
export function speechSegments(probabilities: Float32Array, speaking = false): SpeechSegment[] {
  const segments: SpeechSegment[] = [];
  let start = speaking ? 0 : -1;
  let silent = 0;
  for (const [window, probability] of probabilities.entries()) {
    if (start < 0) {
      if (probability < SPEECH_BEGINS) continue;
      start = window;
    }
    silent = probability < SPEECH_ENDS ? silent + 1 : 0;
    if (silent < MIN_SILENCE_WINDOWS) continue;
    const end = window + 1 - silent;
    const goesOn = speaking && start === 0 && end > 0;
    if (goesOn || isSpeech(probabilities.subarray(start, end))) segments.push({ start, end });
    start = -1;
    silent = 0;
  }
  if (start >= 0 && probabilities.length - silent > start) {
    segments.push({ start, end: probabilities.length - silent });
  }
  return segments;
}

function isSpeech(probabilities: Float32Array): boolean {
  if (probabilities.length < MIN_SPEECH_WINDOWS) return false;
  if (probabilities.length > SHORT_WINDOWS) return true;
  return probabilities.reduce((sum, value) => sum + value, 0) >= SURE_OF_SHORT * probabilities.length;
}
