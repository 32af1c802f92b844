import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { InferenceSession, Tensor, type TypedTensor } from "onnxruntime-node";
import { SpeechError } from "../errors.ts";
import { isSharedSilence, SAMPLE_RATE } from "../media/audio.ts";
import { release } from "../onnx/tensors.ts";
import { DIGITAL_SILENCE_DB, findBackground, findSilence, levelOf } from "./background.ts";
import { amplifyQuietAudio } from "./quiet-audio.ts";
import { INPUT_SAMPLES, STATE_SIZE, sileroGraph } from "./silero.ts";

/** Samples per speech probability (32 ms). */
export const WINDOW_SAMPLES = 512;
export const WINDOW_SECONDS = WINDOW_SAMPLES / SAMPLE_RATE;

/** Silero VAD v5 needs the end of the previous window. Without it, it misses a third of the speech. */
const CONTEXT_SAMPLES = INPUT_SAMPLES - WINDOW_SAMPLES;

/**
 * Windows are scored in runs. Each run starts from a fresh state that is warmed up on the audio before it. Runs can be
 * batched, which halves the cost, and resets improve detection, because the recurrent state degrades in noise: at 5 dB, it
 * finds 84% of the speech with resets and 50% without.
 */
const RUN_WINDOWS = 938;
const WARM_UP_WINDOWS = 94;
const RUNS_PER_BATCH = 8;
/** Windows of each run that are scored in one call of the model. With more, its tensors exceed the processor's cache. */
const STEPS_PER_CALL = 16;
const BLOCK_SAMPLES = RUNS_PER_BATCH * RUN_WINDOWS * WINDOW_SAMPLES;
/** Samples of the previous block that the first run of a block needs. */
const PRECEDING_SAMPLES = WARM_UP_WINDOWS * WINDOW_SAMPLES + CONTEXT_SAMPLES;

/** A few minutes of a recording with the speech probability of each window. */
export interface ScoredAudio {
  /** A whole number of windows, padded with silence if necessary. Valid until the next block is requested. */
  samples: Float32Array;
  /** Speech probability of each window, 0 … 1. */
  probabilities: Float32Array;
}

export interface VoiceActivityDetector {
  /**
   * Returns the speech probability of each window.
   * @param samples a whole number of windows at 16 kHz
   * @param preceding the audio before the samples, as far as available
   */
  probabilities(samples: Float32Array, preceding: Float32Array, signal: AbortSignal): Promise<Float32Array>;
  close(): Promise<void>;
}

/**
 * Opens Silero VAD v5 from the package `@ricky0123/vad-web`.
 * @throws SpeechError `model_unusable`
 */
export async function openVoiceActivityDetector({
  threads,
}: {
  threads: number;
}): Promise<VoiceActivityDetector> {
  try {
    const path = fileURLToPath(import.meta.resolve("@ricky0123/vad-web/dist/silero_vad_v5.onnx"));
    const session = await InferenceSession.create(sileroGraph(await readFile(path)), {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      executionMode: "sequential",
    });
    return new SileroDetector(session);
  } catch (error) {
    throw new SpeechError("model_unusable", `The voice activity model cannot be loaded: ${error}`, {
      cause: error,
    });
  }
}

/** The windows `[start, end)`, which are scored in sequence. */
interface Run {
  start: number;
  end: number;
  /** Number of windows of digital silence to warm up with; 0 to warm up with the audio before the run. */
  silentWarmUp: number;
}

class SileroDetector implements VoiceActivityDetector {
  readonly #session: InferenceSession;
  /** State after each number of windows of digital silence, computed on demand. */
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
      // A batch needs as many steps as its longest run, so runs of similar length are batched.
      const queue = runs
        .filter(({ silentWarmUp }) => silentWarmUp > 0 === isSilent)
        .toSorted((a, b) => b.end - b.start - (a.end - a.start));
      while (queue.length > 0) {
        await this.#scoreBatch(queue.splice(0, RUNS_PER_BATCH), audio, probabilities, signal);
      }
    }
    return probabilities;
  }

  /** Scores runs in parallel: step `t` scores window `t` of each. The longest run must come first. */
  async #scoreBatch(
    batch: readonly Run[],
    audio: PrecededSamples,
    probabilities: Float32Array,
    signal: AbortSignal,
  ): Promise<void> {
    const [longest] = batch as [Run];
    let state = await this.#initialStates(batch, signal);
    const rows = batch.length;
    const input = new Float32Array(STEPS_PER_CALL * rows * INPUT_SAMPLES);
    const endStep = longest.end - longest.start;
    const firstStep = longest.silentWarmUp > 0 ? 0 : -WARM_UP_WINDOWS;
    for (let from = firstStep; from < endStep; from += STEPS_PER_CALL) {
      signal.throwIfAborted();
      const steps = Math.min(STEPS_PER_CALL, endStep - from);
      const indexes = Array.from({ length: steps * rows }, (_, index) => {
        const run = batch[index % rows]!;
        return { index, run, step: from + Math.floor(index / rows) };
      });
      for (const { index, run, step } of indexes) {
        const start = (run.start + step) * WINDOW_SAMPLES - CONTEXT_SAMPLES;
        audio.copy(start, input, index * INPUT_SAMPLES, INPUT_SAMPLES);
      }
      const outputs = await this.#run(input.subarray(0, indexes.length * INPUT_SAMPLES), state);
      state = outputs.state;
      for (const { index, run, step } of indexes) {
        const window = run.start + step;
        if (step >= 0 && window < run.end) probabilities[window] = outputs.probabilities[index]!;
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

  /** Scores consecutive windows of each run, `[steps, runs, samples]`. Frees `state`. */
  async #run(input: Float32Array, state: StateTensor) {
    const runs = state.dims[1]!;
    const steps = input.length / INPUT_SAMPLES / runs;
    const outputs = await this.#session.run({
      windows: new Tensor("float32", input, [steps, runs, INPUT_SAMPLES]),
      state,
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

function stateTensor(parts: readonly Float32Array[]): StateTensor {
  const values = Float32Array.from(parts.flatMap((part) => [...part]));
  return new Tensor("float32", values, [2, values.length / 2 / STATE_SIZE, STATE_SIZE]);
}

/**
 * Plans the runs. Background cannot contain recognizable speech, and scoring hours of background would cost more than
 * decoding. Therefore a run ends before trailing background and before digital silence. Audio after digital silence is
 * scored like the beginning of a recording. Otherwise the results are the same as without these omissions.
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

/** Samples that can also be read before their beginning. Unknown samples are silence. */
class PrecededSamples {
  readonly #samples: Float32Array;
  readonly #preceding: Float32Array;

  constructor(samples: Float32Array, preceding: Float32Array) {
    this.#samples = samples;
    this.#preceding = preceding;
  }

  /** Returns a window, which is copied to `buffer` only if it begins before the samples. */
  window(start: number, buffer: Float32Array): Float32Array {
    if (start >= 0) return this.#samples.subarray(start, start + buffer.length);
    this.copy(start, buffer, 0, buffer.length);
    return buffer;
  }

  copy(start: number, input: Float32Array, offset: number, count: number): void {
    const end = start + count;
    if (start >= 0 && end <= this.#samples.length) {
      input.set(this.#samples.subarray(start, end), offset);
      return;
    }
    const target = input.subarray(offset, offset + count).fill(0);
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
 * Scores a recording in blocks of a few minutes (15 MB). Amplifies quiet audio first.
 * @param score `VoiceActivityDetector.probabilities` without the signal
 */
export async function* scoreAudio(
  chunks: AsyncIterable<Float32Array>,
  score: (samples: Float32Array, preceding: Float32Array) => Promise<Float32Array>,
): AsyncGenerator<ScoredAudio> {
  // The buffer is reused because allocation is slow, and shared so the worker thread can read it without a copy.
  const bytes = (PRECEDING_SAMPLES + BLOCK_SAMPLES) * Float32Array.BYTES_PER_ELEMENT;
  const audio = new Float32Array(new SharedArrayBuffer(bytes));
  let preceding = audio.subarray(0, 0);
  for await (const samples of inBlocks(chunks, audio.subarray(PRECEDING_SAMPLES))) {
    amplifyQuietAudio(samples);
    yield { samples, probabilities: await score(samples, preceding) };
    preceding = audio.subarray(0, PRECEDING_SAMPLES);
    preceding.set(audio.subarray(-PRECEDING_SAMPLES));
  }
}

/** Collects chunks in `block` and yields it whenever it is full. The last block is padded to a whole window. */
async function* inBlocks(
  chunks: AsyncIterable<Float32Array>,
  block: Float32Array,
): AsyncGenerator<Float32Array> {
  let filled = 0;
  const zeros = new ZeroedSpans(block);
  for await (const chunk of chunks) {
    for (let taken = 0; taken < chunk.length; ) {
      const part = chunk.subarray(taken, taken + block.length - filled);
      if (isSharedSilence(part)) zeros.fill(filled, filled + part.length);
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

/** Tracks which windows of the reused block are already zero, so hours of silence are not written again. */
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

/** The windows `[start, end)`, which contain speech. */
export interface SpeechSegment {
  start: number;
  end: number;
}

const SPEECH_BEGINS = 0.5;
const SPEECH_ENDS = 0.35;
/** Shorter silences (less than 96 ms) are stop consonants inside words. */
export const MIN_SILENCE_WINDOWS = 3;
/** Shorter sounds (less than 192 ms) are not speech but, e.g., the onset of music. A single word takes 250 ms. */
export const MIN_SPEECH_WINDOWS = 6;
/**
 * Minimum mean probability of a segment of up to a second. Laughter, sirens and sweeps have 0.5 … 0.7; 36 of 51 segments
 * of laughter are below this limit. Single words have at least 0.72 with noise down to 10 dB. Of short segments in real
 * recordings, 1 in 53 is below the limit, and 5 in 50 with noise at 5 dB.
 */
const MIN_SHORT_PROBABILITY = 0.65;
const SHORT_WINDOWS = 32;

/**
 * Finds speech in the probabilities of consecutive windows. A segment begins at a probability of 0.5 and ends when the
 * probability stays below 0.35. Segments and gaps have minimum lengths, and short segments a minimum mean probability.
 * These limits do not apply to a segment that reaches the end, because it may continue.
 * @param speaking whether speech is in progress at the first window
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
    const isContinued = speaking && start === 0 && end > 0;
    if (isContinued || isSpeech(probabilities.subarray(start, end))) segments.push({ start, end });
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
  return probabilities.reduce((sum, value) => sum + value, 0) >= MIN_SHORT_PROBABILITY * probabilities.length;
}
