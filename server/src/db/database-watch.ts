import type { PostgresPool } from "kysely";
import pg from "pg";
import type { Logger } from "pino";
import type { AppError } from "../errors.ts";
import { databaseAway, isLostConnection, namedDatabaseError } from "./lost-connection.ts";

/** An answer that takes longer makes one ask whether the database is there at all. */
const SILENCE_MS = 5_000;
const LOOK_EVERY_MS = 1_000;
/** While answers are late and the database is there. */
const ASK_AGAIN_MS = 5_000;
const ASK_TIMEOUT_MS = 5_000;
/** Queries that may wait for a connection; the process has better use for its memory than for more. */
const MOST_WAITING = 1_000;

interface Waiting {
  client: pg.Client;
  since: number;
}

/**
 * Knows whether the database is there. A connection over which nothing comes any more is not noticed by itself
 * for a quarter of an hour, and a query may take long: so where an answer is late, another connection is made,
 * and only where that fails as well is the database taken to be away. While it is, queries are refused at once
 * and those that wait on connections from before are ended; one connection a second finds out when it is back.
 */
export class DatabaseWatch {
  readonly #connect: pg.ClientConfig;
  readonly #log: Logger;
  readonly #waiting = new Set<Waiting>();
  readonly #timer: NodeJS.Timeout;
  #away: AppError | null = null;
  #asking: Promise<void> | null = null;
  #askedAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(databaseUrl: string, log: Logger) {
    this.#connect = {
      connectionString: databaseUrl,
      application_name: "subtext-watch",
      connectionTimeoutMillis: ASK_TIMEOUT_MS,
      query_timeout: ASK_TIMEOUT_MS,
    };
    this.#log = log;
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** To be called with each new connection of a pool, before its first use. */
  watch(client: pg.ClientBase): void {
    const watched = client as pg.Client;
    // Whoever uses it is told by the query that fails; without a listener it would end the process.
    watched.on("error", () => {});
    const query = watched.query.bind(watched) as (...values: unknown[]) => unknown;
    watched.query = ((...values: unknown[]) => {
      const waiting = { client: watched, since: performance.now() };
      this.#waiting.add(waiting);
      const done = () => void this.#waiting.delete(waiting);
      const callback = values.at(-1);
      if (typeof callback === "function") {
        const settled = (...answer: unknown[]) => {
          done();
          callback(...answer);
        };
        return query(...values.slice(0, -1), settled);
      }
      const answer = query(...values) as Promise<unknown>;
      return answer.finally(done).catch((error) => {
        throw namedDatabaseError(error);
      });
    }) as typeof watched.query;
  }

  /** The pool, for callers that are better refused than kept waiting. */
  guard(pool: pg.Pool): PostgresPool {
    return {
      options: pool.options,
      connect: async () => {
        if (this.#away) throw databaseAway(this.#away.cause);
        if (pool.waitingCount >= MOST_WAITING)
          throw databaseAway(new Error("too many queries wait for a connection"));
        try {
          return await pool.connect();
        } catch (error) {
          // It may as well be busy: then they can not have a connection in time.
          if (isLostConnection(error)) void this.#ask();
          throw namedDatabaseError(error);
        }
      },
      end: () => pool.end(),
    };
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    const late =
      now - this.#askedAt > ASK_AGAIN_MS && [...this.#waiting].some(({ since }) => now - since > SILENCE_MS);
    if (this.#away || late) void this.#ask();
  }

  #ask(): Promise<void> {
    this.#asking ??= this.#askNow().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #askNow(): Promise<void> {
    this.#askedAt = performance.now();
    const client = new pg.Client(this.#connect);
    client.on("error", () => {});
    try {
      await client.connect();
      await client.query("select 1");
      this.#there();
    } catch (error) {
      if (isRefusal(error)) this.#there();
      else this.#gone(error);
    } finally {
      client.end().catch(() => {});
    }
  }

  #there(): void {
    if (this.#away && !this.#closed) this.#log.info("the database is back");
    this.#away = null;
  }

  #gone(error: unknown): void {
    if (this.#closed) return;
    if (!this.#away) this.#log.error({ err: error }, "the database does not answer");
    this.#away = databaseAway(error);
    for (const { client, since } of this.#waiting) {
      // Whether it did what it was asked is not known, only that nobody will hear of it.
      if (since <= this.#askedAt) client.end().catch(() => {});
    }
  }
}

/** The word of a database that is there, such as that it has no more connections to give. */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !error.code?.startsWith("57P");
}
