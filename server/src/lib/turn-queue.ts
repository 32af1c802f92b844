import { AppError } from "./errors.ts";

export interface TurnQueueLimits {
  /** Turns that run concurrently. */
  maxRunning: number;
  maxRunningPerOwner: number;
  /** Turns that may wait. Further requests are refused. */
  maxWaiting: number;
}

interface Owner {
  running: number;
  /** Functions that each start a waiting turn, in order of arrival. */
  waiting: (() => void)[];
}

/**
 * Runs a limited number of turns concurrently and queues the rest, round-robin over their owners. An owner that
 * requests thousands of turns delays the next turn of another owner by at most one of its own.
 */
export class TurnQueue {
  readonly #limits: TurnQueueLimits;
  /** Owners with a running or waiting turn. The most recently served one is last. */
  readonly #owners = new Map<string, Owner>();
  #running = 0;
  #waiting = 0;

  constructor(limits: TurnQueueLimits) {
    this.#limits = limits;
  }

  /**
   * Waits for a turn.
   * @returns a function that ends the turn; further calls have no effect
   * @throws AppError `service_unavailable` if too many turns wait, or the signal's reason if it is aborted
   */
  async enter(owner: string, signal: AbortSignal): Promise<() => void> {
    if (this.#waiting >= this.#limits.maxWaiting) {
      throw new AppError("service_unavailable", "Too many requests are queued. Try again later.");
    }
    return await this.#wait(owner, signal);
  }

  /** Waits for another turn without a limit, for work that has begun and must not be refused. */
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
      // Move the owner to the end of the round. The loop reaches it again there.
      this.#owners.delete(name);
      this.#owners.set(name, owner);
      begin();
    }
  }

  #forgetIdle(name: string, owner: Owner): void {
    if (owner.running === 0 && owner.waiting.length === 0) this.#owners.delete(name);
  }
}
