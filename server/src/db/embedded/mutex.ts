/** A mutex in first-in, first-out order. */
export class Mutex {
  #last: Promise<void> = Promise.resolve();
  #users = 0;

  /** Whether it is locked. */
  get isLocked(): boolean {
    return this.#users > 0;
  }

  /** Number of callers that wait, without the holder. */
  get waiting(): number {
    return Math.max(0, this.#users - 1);
  }

  /** Resolves with the release function when it is the caller's turn. */
  async acquire(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    this.#users += 1;
    await before;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#users -= 1;
      resolve();
    };
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.acquire();
    try {
      return await work();
    } finally {
      release();
    }
  }
}
