import type { Logger } from "pino";
import type { AppError } from "./errors.ts";

/** An answer that takes longer makes one ask whether the other side is there at all. */
const LATE_MS = 5_000;
const LOOK_EVERY_MS = 1_000;
/** While answers are late and the other side is there. */
const ASK_AGAIN_MS = 5_000;

export interface Watched {
  /** For the log: `the database`. */
  name: string;
  log: Logger | null;
  /** Makes a connection of its own; rejects, within seconds, where nothing is there to answer. */
  ask(): Promise<void>;
  /** What callers are refused with. */
  away(cause: unknown): AppError;
}

interface Question {
  since: number;
  end: (reason: AppError) => void;
}

/**
 * Knows whether what the service needs over a network is there. A connection over which nothing comes any more is
 * not noticed by itself for a quarter of an hour, and an answer may take long: so where one is late, another
 * connection is made, and only where that fails as well is the other side taken to be away. While it is, callers
 * are to be refused at once, and those that wait for answers are ended; one connection a second finds out when it
 * is back. The log has one line when the outage begins and one when it ends: every other line about it is for
 * debugging.
 */
export class OutageWatch {
  readonly #watched: Watched;
  readonly #open = new Set<Question>();
  readonly #timer: NodeJS.Timeout;
  #away: { refusal: AppError; since: number } | null = null;
  #asking: Promise<void> | null = null;
  #askedAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** @throws the refusal, while the other side is away */
  assertThere(): void {
    if (this.#away) throw this.#watched.away(this.#away.refusal.cause);
  }

  /**
   * Probes the other side now, to tell a failure of one request from an outage.
   * @throws the refusal, if the other side is unavailable
   */
  async assertAnswers(): Promise<void> {
    // A probe in progress may have begun before the failure.
    await this.#asking;
    await this.#ask();
    this.assertThere();
  }

  /**
   * Tells of a question that is put now.
   * @param end called where nobody will answer it
   * @returns to be called when it is answered, in whichever way
   */
  asked(end: (reason: AppError) => void): () => void {
    const question = { since: performance.now(), end };
    this.#open.add(question);
    return () => void this.#open.delete(question);
  }

  /** Tells of a failure that may mean that the other side is away. */
  suspect(): void {
    void this.#ask();
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    const isLate = ({ since }: Question) => now - since > LATE_MS;
    const late = now - this.#askedAt > ASK_AGAIN_MS && [...this.#open].some(isLate);
    if (this.#away || late) void this.#ask();
  }

  #ask(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#asking ??= this.#askOnce().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #askOnce(): Promise<void> {
    this.#askedAt = performance.now();
    const { name, log, ask, away } = this.#watched;
    try {
      await ask();
      if (this.#away && !this.#closed) {
        const seconds = Math.round((performance.now() - this.#away.since) / 1000);
        log?.info({ seconds }, `${name} is available again`);
      }
      this.#away = null;
    } catch (error) {
      if (this.#closed) return;
      if (!this.#away) log?.error({ err: error }, `${name} is unavailable`);
      const refusal = away(error);
      this.#away = { refusal, since: this.#away?.since ?? this.#askedAt };
      for (const { since, end } of this.#open) {
        // Whether it was done is not known, only that nobody will hear of it.
        if (since <= this.#askedAt) end(refusal);
      }
    }
  }
}
