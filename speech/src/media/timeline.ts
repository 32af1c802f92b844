import type { AudioBlock } from "./backend.ts";
import { SAMPLE_RATE } from "./limits.ts";

/** Smaller steps of the timestamps are rounding and clock drift; ffmpeg's own resampler draws the line here too. */
const TOLERANCE_SECONDS = 0.1;
/** A step back of more than this is a clock that was set anew, not two blocks that overlap. */
const LONGEST_OVERLAP_SECONDS = 1;
/** A step ahead of more than this is a damaged clock, not a pause. */
export const LONGEST_GAP_SECONDS = 3600;

/** What to do before a block so that it stands where its timestamp says. */
export interface Placement {
  /** Samples of silence to put in front, a channel. */
  silence: number;
  /** Samples to leave out at its beginning, a channel. */
  drop: number;
}

/**
 * Lays blocks on one unbroken timeline: gaps become silence, overlaps are cut, and where the clock jumps
 * the recording goes on as a player would play it.
 */
export class Timeline {
  /** Samples laid so far. */
  samples = 0;
  #shift: number;

  /** @param startSeconds a player's time at which sample 0 stands */
  constructor(startSeconds: number) {
    this.#shift = -startSeconds;
  }

  place(block: Pick<AudioBlock, "at">, length: number): Placement {
    const placement = { silence: 0, drop: 0 };
    if (block.at !== null) {
      const step = block.at + this.#shift - this.samples / SAMPLE_RATE;
      // Samples that a codec needs only to start are cut off, so the first block may stand a little late.
      if (this.samples === 0 && Math.abs(step) <= TOLERANCE_SECONDS) this.#shift -= step;
      else if (step > LONGEST_GAP_SECONDS || step < -LONGEST_OVERLAP_SECONDS) this.#shift -= step;
      else if (step > TOLERANCE_SECONDS) placement.silence = Math.round(step * SAMPLE_RATE);
      else if (step < -TOLERANCE_SECONDS) placement.drop = Math.min(length, Math.round(-step * SAMPLE_RATE));
    }
    this.samples += placement.silence + length - placement.drop;
    return placement;
  }
}

/** How long a recording lasts, told from the timestamps of its packets in the order of the file. */
export class PacketClock {
  readonly #ends = new Map<number, { end: number; shift: number }>();
  #first: number | null = null;

  /** Seconds on the container's own clock; `at` is null for packets without a timestamp. */
  add(stream: number, at: number | null, duration: number): void {
    this.#first ??= at;
    const clock = this.#ends.get(stream) ?? { end: 0, shift: 0 };
    this.#ends.set(stream, clock);
    const shifted = at === null ? clock.end : at - this.#first! + clock.shift;
    const step = shifted - clock.end;
    // Pictures are stored out of order by a few frames, so steps back within reason are no jump.
    const jumped = step > LONGEST_GAP_SECONDS || step < -LONGEST_GAP_SECONDS;
    if (jumped) clock.shift -= step;
    clock.end = Math.max(clock.end, (jumped ? clock.end : shifted) + duration);
  }

  get seconds(): number {
    return Math.max(0, ...[...this.#ends.values()].map(({ end }) => end));
  }
}
