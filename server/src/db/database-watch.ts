import type { PostgresPool } from "kysely";
import pg from "pg";
import type { Logger } from "pino";
import { CircuitBreaker } from "../lib/circuit-breaker.ts";
import { databaseUnavailable, isLostConnection, toDatabaseError } from "../lib/lost-connection.ts";

const PROBE_TIMEOUT_MS = 5_000;
/** Queries that may wait for a connection. A limit, because each one needs memory. */
const MAX_WAITING = 1_000;

/** Prevents queries from waiting for an unavailable database, and broken connections from ending the process. */
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

  /** Must be called with each new connection of a pool, before its first use. */
  watch(client: pg.ClientBase): void {
    const watched = client as pg.Client;
    // The query that uses it also fails; without this handler the event would end the process.
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

  /** A pool whose callers get an error instead of waiting. */
  guard(pool: pg.Pool): PostgresPool {
    return {
      options: pool.options,
      connect: async () => {
        this.#circuit.assertAvailable();
        if (pool.waitingCount >= MAX_WAITING)
          throw databaseUnavailable(new Error("too many queries wait for a connection"));
        try {
          return await pool.connect();
        } catch (error) {
          // The database may also be busy: then no connection becomes free in time.
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
    connectionTimeoutMillis: PROBE_TIMEOUT_MS,
    query_timeout: PROBE_TIMEOUT_MS,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("select 1");
  } catch (error) {
    // Errors that an available database reports, such as too many connections.
    const refused = error instanceof pg.DatabaseError && !error.code?.startsWith("57P");
    if (!refused) throw error;
  } finally {
    client.end().catch(() => {});
  }
}
