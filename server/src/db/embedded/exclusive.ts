/** Hands one thing to one user at a time, in the order in which they asked. */
export class Exclusive {
  #last: Promise<void> = Promise.resolve();
  #users = 0;

  /** True while somebody has it or waits for it. */
  get busy(): boolean {
    return this.#users > 0;
  }

  /** How many wait for it, beside the one that has it. */
  get waiting(): number {
    return Math.max(0, this.#users - 1);
  }

  /** Resolves when it is the caller's turn, with the function that ends the turn. */
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
