import { AsyncLocalStorage } from "node:async_hooks";

/** Polls at changing intervals: each poll returns the time until the next one, and `within` brings that forward. */
export class Poller {
  readonly #poll: () => Promise<number>;
  /** Runs a poll outside the transaction of the caller of `within`. */
  readonly #runOutsideCaller = AsyncLocalStorage.snapshot();
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  #running = Promise.resolve();
  #stopped = false;

  /** @param poll must not throw; returns milliseconds, infinite to wait for `within` */
  constructor(poll: () => Promise<number>) {
    this.#poll = poll;
  }

  /** Starts the next poll after this delay at the latest, but not before the current one ends. */
  within(milliseconds: number): void {
    const at = performance.now() + milliseconds;
    if (this.#stopped || this.#dueAt <= at) return;
    clearTimeout(this.#timer);
    this.#dueAt = at;
    this.#timer = setTimeout(() => {
      this.#running = this.#running.then(() => this.#runOutsideCaller(() => this.#run()));
    }, milliseconds);
  }

  async #run(): Promise<void> {
    this.#dueAt = Number.POSITIVE_INFINITY;
    if (!this.#stopped) this.within(await this.#poll());
  }

  /** Starts no more polls. Resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }
}
