import { isSharedSilence, SAMPLE_RATE } from "../media/audio.ts";
import type { ChannelPair } from "../media/channel-pair.ts";

/** A frame is about as long as a syllable's vowel. */
export const FRAMES_PER_SECOND = 10;
export const FRAME_SAMPLES = SAMPLE_RATE / FRAMES_PER_SECOND;
/** Level of digital silence, dBFS. */
export const FLOOR_DB = -90;

/** Measures the level of each frame of both channels. Six hours take 2 MB. */
export class ChannelLevels {
  readonly #channels = [new GrowingLevels(), new GrowingLevels()] as const;

  add([first, second]: ChannelPair): void {
    this.#channels[0].add(first);
    this.#channels[1].add(second);
  }

  /** Returns the levels in dBFS, without an incomplete last frame. Valid until the next `add`. */
  levels(): readonly [Float32Array, Float32Array] {
    return [this.#channels[0].levels(), this.#channels[1].levels()];
  }
}

class GrowingLevels {
  #levels = new Float32Array(4096);
  #count = 0;
  #energy = 0;
  #samples = 0;

  add(samples: Float32Array): void {
    const isSilent = isSharedSilence(samples);
    for (let taken = 0; taken < samples.length; ) {
      const end = Math.min(samples.length, taken + FRAME_SAMPLES - this.#samples);
      this.#samples += end - taken;
      if (isSilent) taken = end;
      else for (; taken < end; taken++) this.#energy += samples[taken]! * samples[taken]!;
      if (this.#samples === FRAME_SAMPLES) this.#write();
    }
  }

  levels(): Float32Array {
    return this.#levels.subarray(0, this.#count);
  }

  #write(): void {
    if (this.#count === this.#levels.length) {
      const larger = new Float32Array(2 * this.#levels.length);
      larger.set(this.#levels);
      this.#levels = larger;
    }
    const level = this.#energy === 0 ? FLOOR_DB : 10 * Math.log10(this.#energy / FRAME_SAMPLES);
    this.#levels[this.#count++] = Math.max(FLOOR_DB, level);
    this.#energy = 0;
    this.#samples = 0;
  }
}
