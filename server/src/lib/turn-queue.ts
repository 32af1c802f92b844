import { AppError } from "./errors.ts";

export interface TurnQueueLimits {
  maxRunning: number;
  maxRunningPerOwner: number;
  /** Further turns are refused. */
  maxWaiting: number;
}

interface Owner {
  running: number;
  /** Callbacks that start waiting turns, in arrival order. */
  waiting: (() => void)[];
}

/**
 * Runs a limited number of turns concurrently. The others wait, round-robin by owner, so an owner with thousands of
 * turns delays another owner's next turn by at most one of its own.
 */
export class TurnQueue {
  readonly #limits: TurnQueueLimits;
  /** Owners with a running or waiting turn, least recently served first. */
  readonly #owners = new Map<string, Owner>();
  #running = 0;
  #waiting = 0;

  constructor(limits: TurnQueueLimits) {
    this.#limits = limits;
  }

  /**
   * Waits for a turn.
   * @returns a function that ends the turn; further calls have no effect
   * @throws AppError `service_unavailable` if too many turns are waiting, or the signal's reason if it is aborted
   */
  async enter(owner: string, signal: AbortSignal): Promise<() => void> {
    if (this.#waiting >= this.#limits.maxWaiting) {
      throw new AppError("service_unavailable", "Too many requests are queued. Try again later.");
    }
    return await this.#wait(owner, signal);
  }

  /** Waits for another turn in work that has already begun. Unlike the first turn, it is never refused. */
  async reenter(owner: string): Promise<() => void> {
    return await this.#wait(owner);
  }

  #wait(name: string, signal?: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const owner = this.#owners.get(name) ?? { running: 0, waiting: [] };
      this.#owners.set(name, owner);
      const begin = () => {
        signal?.removeEventListener("abort", leave);
        resolve(this.#turn(name, owner));
      };
      const leave = () => {
        owner.waiting.splice(owner.waiting.indexOf(begin), 1);
        this.#waiting -= 1;
        this.#forgetIdle(name, owner);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", leave, { once: true });
      owner.waiting.push(begin);
      this.#waiting += 1;
      this.#serve();
    });
  }

  #turn(name: string, owner: Owner): () => void {
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      this.#running -= 1;
      owner.running -= 1;
      this.#forgetIdle(name, owner);
      this.#serve();
    };
  }

  #serve(): void {
    const { maxRunning, maxRunningPerOwner } = this.#limits;
    for (const [name, owner] of this.#owners) {
      if (this.#running >= maxRunning) return;
      if (owner.running >= maxRunningPerOwner) continue;
      const begin = owner.waiting.shift();
      if (!begin) continue;
      this.#waiting -= 1;
      this.#running += 1;
      owner.running += 1;
      // Moves the owner to the end of the map, where the loop reaches it again.
      this.#owners.delete(name);
      this.#owners.set(name, owner);
      begin();
    }
  }

  #forgetIdle(name: string, owner: Owner): void {
    if (owner.running === 0 && owner.waiting.length === 0) this.#owners.delete(name);
  }
}
