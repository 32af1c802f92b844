import type { WhisperModel } from "./model-files.ts";

/** The log-mel spectrogram that a Whisper encoder takes. */
export class LogMel {
  readonly #size: number;

  constructor(model: Pick<WhisperModel, "melBins" | "hopSamples" | "fftSamples" | "window">) {
    this.#size = model.melBins * model.window.melFrames;
  }

  /**
   * @param samples 16 kHz mono, at most a window of them.
   * @returns `[melBins, melFrames]`
   */
  compute(_samples: Float32Array): Float32Array {
    return new Float32Array(this.#size);
  }
}
