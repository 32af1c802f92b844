import type { PostgresPool } from "kysely";
import pg from "pg";
import type { Logger } from "pino";
import { CircuitBreaker } from "../lib/circuit-breaker.ts";
import { databaseUnavailable, isLostConnection, toDatabaseError } from "../lib/lost-connection.ts";

const ASK_TIMEOUT_MS = 5_000;
/** Queries that may wait for a connection; the process has better use for its memory than for more. */
const MOST_WAITING = 1_000;

/** Keeps queries from waiting for a database that is away, and connections that break from ending the process. */
export class DatabaseWatch {
  readonly #circuit: CircuitBreaker;

  constructor(databaseUrl: string, log: Logger) {
    this.#circuit = new CircuitBreaker({
      name: "the database",
      log,
      probe: () => probeDatabase(databaseUrl),
      toError: databaseUnavailable,
    });
  }

  /** To be called with each new connection of a pool, before its first use. */
  watch(client: pg.ClientBase): void {
    const watched = client as pg.Client;
    // The query that uses it fails as well; without a listener it would end the process.
    watched.on("error", () => this.#circuit.markSuspect());
    const query = watched.query.bind(watched) as (...values: unknown[]) => unknown;
    watched.query = ((...values: unknown[]) => {
      const answered = this.#circuit.track(() => void watched.end().catch(() => {}));
      const callback = values.at(-1);
      if (typeof callback === "function") {
        const settled = (...answer: unknown[]) => {
          answered();
          callback(...answer);
        };
        return query(...values.slice(0, -1), settled);
      }
      const answer = query(...values) as Promise<unknown>;
      return answer.finally(answered).catch((error) => {
        throw toDatabaseError(error);
      });
    }) as typeof watched.query;
  }

  /** The pool, for callers that are better refused than kept waiting. */
  guard(pool: pg.Pool): PostgresPool {
    return {
      options: pool.options,
      connect: async () => {
        this.#circuit.assertAvailable();
        if (pool.waitingCount >= MOST_WAITING)
          throw databaseUnavailable(new Error("too many queries wait for a connection"));
        try {
          return await pool.connect();
        } catch (error) {
          // It may as well be busy: then they can not have a connection in time.
          if (isLostConnection(error)) this.#circuit.markSuspect();
          throw toDatabaseError(error);
        }
      },
      end: () => pool.end(),
    };
  }

  close(): void {
    this.#circuit.close();
  }
}

async function probeDatabase(connectionString: string): Promise<void> {
  const client = new pg.Client({
    connectionString,
    application_name: "subtext-watch",
    connectionTimeoutMillis: ASK_TIMEOUT_MS,
    query_timeout: ASK_TIMEOUT_MS,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("select 1");
  } catch (error) {
    // The word of a database that is there, such as that it has no more connections to give.
    const refused = error instanceof pg.DatabaseError && !error.code?.startsWith("57P");
    if (!refused) throw error;
  } finally {
    client.end().catch(() => {});
  }
}
