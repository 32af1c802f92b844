import { fileURLToPath } from "node:url";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { SpeechError } from "./errors.ts";
import { release } from "./onnx/tensors.ts";

/** Samples a second of all audio in this package. */
export const SAMPLE_RATE = 16_000;
/** Samples that get one speech probability: 32 ms. */
export const WINDOW_SAMPLES = 512;
export const WINDOW_SECONDS = WINDOW_SAMPLES / SAMPLE_RATE;

/** Silero's fifth version wants the end of the window before; without it, it misses a third of the speech. */
const CONTEXT_SAMPLES = 64;
const STATE_SIZE = 128;

/**
 * A stretch starts from a fresh state and is warmed up on the audio before it. Stretches run side by side
 * in one batch, which costs half of one call after the other, and a fresh state hears more: carried on
 * without end, the state goes deaf in noise (at 5 dB it finds 50 % of the speech, restarted 84 %).
 */
const STRETCH_WINDOWS = 938;
const WARM_UP_WINDOWS = 94;
const STRETCHES_PER_BATCH = 8;
const BLOCK_SAMPLES = STRETCHES_PER_BATCH * STRETCH_WINDOWS * WINDOW_SAMPLES;
/** What the first stretch of a block needs of the block before. */
const PRECEDING_SAMPLES = WARM_UP_WINDOWS * WINDOW_SAMPLES + CONTEXT_SAMPLES;

/** A few minutes of a recording and how likely each window of it is speech. */
export interface ScoredAudio {
  /**
   * A whole number of windows; silence follows the last sample of the recording. They are there until the next are
   * asked for.
   */
  samples: Float32Array;
  /** Probability of speech of each window, 0 … 1. */
  probabilities: Float32Array;
}

/** Tells speech from everything else. */
export interface VoiceActivity {
  /**
   * Speech probability of each window of `samples` (a whole number of windows at 16 kHz).
   * @param preceding The audio right before them, as far as it is at hand; empty at the beginning.
   */
  probabilities(samples: Float32Array, preceding: Float32Array, signal: AbortSignal): Promise<Float32Array>;
  close(): Promise<void>;
}

/**
 * Silero VAD v5 (Silero Team, MIT), as packed in `@ricky0123/vad-web`, on the CPU.
 * @throws SpeechError `model_unusable`
 */
export async function openVoiceActivity({ threads }: { threads: number }): Promise<VoiceActivity> {
  try {
    const path = fileURLToPath(import.meta.resolve("@ricky0123/vad-web/dist/silero_vad_v5.onnx"));
    const session = await InferenceSession.create(path, {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      executionMode: "sequential",
    });
    return new SileroVoiceActivity(session);
  } catch (error) {
    throw new SpeechError("model_unusable", `The voice activity model does not load: ${error}`, {
      cause: error,
    });
  }
}

class SileroVoiceActivity implements VoiceActivity {
  readonly #session: InferenceSession;
  readonly #sampleRate = new Tensor("int64", BigInt64Array.of(BigInt(SAMPLE_RATE)), []);

  constructor(session: InferenceSession) {
    this.#session = session;
  }

  async probabilities(samples: Float32Array, preceding: Float32Array, signal: AbortSignal) {
    const probabilities = new Float32Array(samples.length / WINDOW_SAMPLES);
    const perBatch = STRETCHES_PER_BATCH * STRETCH_WINDOWS;
    const audio = new Preceded(samples, preceding);
    for (let first = 0; first < probabilities.length; first += perBatch) {
      const batch = probabilities.subarray(first, first + perBatch);
      await this.#fillBatch(batch, audio, first, signal);
    }
    return probabilities;
  }

  /** Scores up to eight stretches at once: step `t` runs window `t` of every stretch. */
  async #fillBatch(probabilities: Float32Array, audio: Preceded, first: number, signal: AbortSignal) {
    const stretches = Math.ceil(probabilities.length / STRETCH_WINDOWS);
    const length = Math.ceil(probabilities.length / stretches);
    const inputSamples = CONTEXT_SAMPLES + WINDOW_SAMPLES;
    const input = new Float32Array(stretches * inputSamples);
    let state = new Tensor("float32", new Float32Array(2 * stretches * STATE_SIZE), [
      2,
      stretches,
      STATE_SIZE,
    ]);
    for (let step = -WARM_UP_WINDOWS; step < length; step++) {
      signal.throwIfAborted();
      for (let stretch = 0; stretch < stretches; stretch++) {
        const start = (first + stretch * length + step) * WINDOW_SAMPLES - CONTEXT_SAMPLES;
        audio.copy(start, input, stretch * inputSamples, inputSamples);
      }
      const outputs = await this.#session.run({
        input: new Tensor("float32", input, [stretches, inputSamples]),
        state,
        sr: this.#sampleRate,
      });
      release([state]);
      state = outputs.stateN as typeof state;
      if (step < 0) continue;
      const output = outputs.output!.data as Float32Array;
      for (let stretch = 0; stretch < stretches; stretch++) {
        const window = stretch * length + step;
        if (window < probabilities.length) probabilities[window] = output[stretch]!;
      }
    }
    release([state]);
  }

  close(): Promise<void> {
    return this.#session.release();
  }
}

/** Samples that can be read from before their beginning; there is silence around what is known. */
class Preceded {
  readonly #samples: Float32Array;
  readonly #preceding: Float32Array;

  constructor(samples: Float32Array, preceding: Float32Array) {
    this.#samples = samples;
    this.#preceding = preceding;
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
 * Scores a recording as it comes in, a few minutes (15 MB) at a time, all of them in the same memory.
 * @param score `VoiceActivity.probabilities`, bound to its signal
 */
export async function* scoreAudio(
  chunks: AsyncIterable<Float32Array>,
  score: (samples: Float32Array, preceding: Float32Array) => Promise<Float32Array>,
): AsyncGenerator<ScoredAudio> {
  // Fresh memory for each block would cost the system more than all else that is done here.
  const audio = new Float32Array(PRECEDING_SAMPLES + BLOCK_SAMPLES);
  let preceding = audio.subarray(0, 0);
  for await (const samples of inBlocks(chunks, audio.subarray(PRECEDING_SAMPLES))) {
    yield { samples, probabilities: await score(samples, preceding) };
    preceding = audio.subarray(0, PRECEDING_SAMPLES);
    preceding.set(audio.subarray(-PRECEDING_SAMPLES));
  }
  release([audio]);
}

/** Gathers chunks of any length in `block` and gives it whenever it is full; the last is filled up to a whole window. */
async function* inBlocks(
  chunks: AsyncIterable<Float32Array>,
  block: Float32Array,
): AsyncGenerator<Float32Array> {
  let filled = 0;
  for await (const chunk of chunks) {
    for (let taken = 0; taken < chunk.length; ) {
      const part = chunk.subarray(taken, taken + block.length - filled);
      block.set(part, filled);
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

/** A stretch of windows in which somebody speaks; `end` is the first window after it. */
export interface SpeechSegment {
  start: number;
  end: number;
}

const SPEECH_BEGINS = 0.5;
const SPEECH_ENDS = 0.35;
/** 96 ms: shorter silences are stops inside words. */
export const MIN_SILENCE_WINDOWS = 3;
/** 192 ms: shorter sounds are the onset of music; a word spoken alone takes 250 ms. */
export const MIN_SPEECH_WINDOWS = 6;
/**
 * A stretch of up to a second must be speech with this probability in the mean: laughter, sirens and sweeps
 * are taken for it now and then, but not surely (0.5 … 0.7; 36 of 51 stretches of laughter lie below). Of
 * single words spoken alone none lay below, down to 10 dB of noise (0.72 and more), of short stretches of
 * real recordings 1 in 53, at 5 dB of noise 5 in 50.
 */
const SURE_OF_SHORT = 0.65;
const SHORT_WINDOWS = 32;

/**
 * The stretches of speech in a run of window probabilities, in order: one begins where the probability
 * reaches 0.5 and ends where it stays under 0.35. Gaps between stretches are at least 96 ms, stretches at
 * least 192 ms, and those of up to a second 0.65 likely in the mean; only one that reaches the end of the run
 * may be shorter and less likely, for it may go on.
 * @param speaking Whether somebody is already speaking at the first window.
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
