import { SAMPLE_RATE } from "./audio.ts";
import type { AudioBlock } from "./backend.ts";

/** Smaller steps between timestamps are rounding errors or clock drift. ffmpeg's resampler uses the same limit. */
const TOLERANCE_SECONDS = 0.1;
/** A larger step back is a clock reset, not an overlap. */
const MAX_OVERLAP_SECONDS = 1;
/** A larger step ahead is a clock error, not a gap. */
const MAX_GAP_SECONDS = 3600;
/** A larger step back between packets is a clock reset, not the order in which video frames are stored. */
const MAX_REORDERING_SECONDS = 60;

/** Samples per channel. */
export interface Placement {
  /** Silence to insert before the block. */
  silence: number;
  /** Samples to drop at the start of the block. */
  drop: number;
}

/** Places blocks on a timeline. As in a player, gaps become silence, overlaps are cut, and jumps are ignored. */
export class Timeline {
  /** Samples placed so far. */
  samples = 0;
  #shift: number;

  /** @param startSeconds playback time of sample 0 */
  constructor(startSeconds: number) {
    this.#shift = -startSeconds;
  }

  place(block: Pick<AudioBlock, "at">, length: number): Placement {
    const placement = { silence: 0, drop: 0 };
    if (block.at !== null) {
      const step = block.at + this.#shift - this.samples / SAMPLE_RATE;
      // The decoder drops a codec's priming samples, so the first block may be slightly late.
      if (this.samples === 0 && Math.abs(step) <= TOLERANCE_SECONDS) this.#shift -= step;
      else if (step > MAX_GAP_SECONDS || step < -MAX_OVERLAP_SECONDS) this.#shift -= step;
      else if (step > TOLERANCE_SECONDS) placement.silence = Math.round(step * SAMPLE_RATE);
      else if (step < -TOLERANCE_SECONDS) placement.drop = Math.min(length, Math.round(-step * SAMPLE_RATE));
    }
    this.samples += placement.silence + length - placement.drop;
    return placement;
  }
}

/** Measures the duration of a recording from the timestamps of its packets. */
export class PacketClock {
  readonly #ends = new Map<number, { end: number; shift: number }>();
  #first: number | null = null;

  /**
   * @param at seconds on the container's clock; null if the packet has no timestamp
   * @param duration seconds
   */
  add(stream: number, at: number | null, duration: number): void {
    this.#first ??= at;
    const clock = this.#ends.get(stream) ?? { end: 0, shift: 0 };
    this.#ends.set(stream, clock);
    const shifted = at === null ? clock.end : at - this.#first! + clock.shift;
    const step = shifted - clock.end;
    const jumped = step > MAX_GAP_SECONDS || step < -MAX_REORDERING_SECONDS;
    if (jumped) clock.shift -= step;
    clock.end = Math.max(clock.end, (jumped ? clock.end : shifted) + duration);
  }

  get seconds(): number {
    return Math.max(0, ...[...this.#ends.values()].map(({ end }) => end));
  }
}
