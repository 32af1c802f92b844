/** A first-in, first-out mutex. */
export class Mutex {
  #last: Promise<void> = Promise.resolve();
  #users = 0;

  get isLocked(): boolean {
    return this.#users > 0;
  }

  get waiting(): number {
    return Math.max(0, this.#users - 1);
  }

  /**
   * Waits for the lock.
   * @returns a function that releases it; further calls have no effect
   */
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
