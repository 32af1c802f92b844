import { AsyncLocalStorage } from "node:async_hooks";

/** Polls at varying intervals. Each poll returns the time until the next one, and `within` can shorten it. */
export class Poller {
  readonly #poll: () => Promise<number>;
  /** `within` may be called in a transaction, in which the poll must not run. */
  readonly #runOutsideCaller = AsyncLocalStorage.snapshot();
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  #running = Promise.resolve();
  #stopped = false;

  /** @param poll must not throw. Returns milliseconds until the next poll, or infinity to wait for `within` */
  constructor(poll: () => Promise<number>) {
    this.#poll = poll;
  }

  /** Starts the next poll after at most this delay, or when the current poll ends if that is later. */
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

  /** Waits for the current poll and starts no more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }
}
