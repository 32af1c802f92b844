import type { StageSeconds } from "../transcript.ts";

type Stage = Exclude<keyof StageSeconds, "total">;

/** Adds up the wall-clock time that each stage takes. */
export class StageTimer {
  readonly #started = performance.now();
  readonly #milliseconds: Record<Stage, number> = { probe: 0, decode: 0, voiceActivity: 0, engine: 0 };

  /** Times one call. */
  async time<T>(stage: Stage, work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    try {
      return await work();
    } finally {
      this.#milliseconds[stage] += performance.now() - started;
    }
  }

  /** Yields the same items and counts the time that the consumer waits for the source. */
  async *timeEach<T>(stage: Stage, items: AsyncIterable<T>): AsyncGenerator<T> {
    const iterator = items[Symbol.asyncIterator]();
    try {
      for (;;) {
        const result = await this.time(stage, () => iterator.next());
        if (result.done) return;
        yield result.value;
      }
    } finally {
      await iterator.return?.();
    }
  }

  /** Seconds so far, 3 decimals. */
  stages(): StageSeconds {
    const { probe, decode, voiceActivity, engine } = this.#milliseconds;
    const total = performance.now() - this.#started;
    const seconds = (milliseconds: number) => Math.round(milliseconds) / 1000;
    return {
      probe: seconds(probe),
      decode: seconds(decode),
      voiceActivity: seconds(voiceActivity),
      engine: seconds(engine),
      total: seconds(total),
    };
  }
}
