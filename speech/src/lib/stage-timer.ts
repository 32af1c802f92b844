import type { StageSeconds } from "../transcript.ts";

type Stage = Exclude<keyof StageSeconds, "total">;

export class StageTimer {
  readonly #started = performance.now();
  readonly #milliseconds: Record<Stage, number> = { probe: 0, decode: 0, voiceActivity: 0, engine: 0 };

  async time<T>(stage: Stage, work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    try {
      return await work();
    } finally {
      this.#milliseconds[stage] += performance.now() - started;
    }
  }

  /** Yields the same items and measures the time spent waiting for them. */
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

  /** Returns the seconds so far, rounded to milliseconds. */
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
