import type { PostgresPool } from "kysely";
import pg from "pg";
import type { Logger } from "pino";
import { CircuitBreaker } from "../lib/circuit-breaker.ts";
import { databaseUnavailable, isLostConnection, toDatabaseError } from "../lib/lost-connection.ts";

const PROBE_TIMEOUT_MS = 5_000;
/** Limits the memory that waiting queries use. */
const MAX_WAITING = 1_000;

/**
 * Makes queries fail immediately while the database is unavailable, and keeps broken connections from crashing the
 * process.
 */
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

  /** Call this for each new connection before its first use. */
  watch(client: pg.ClientBase): void {
    const watched = client as pg.Client;
    // Without a listener, an `error` event ends the process. The query that uses the connection fails anyway.
    watched.on("error", () => this.#circuit.markSuspect());
    const query = watched.query.bind(watched) as (...values: unknown[]) => unknown;
    watched.query = ((...values: unknown[]) => {
      const endTracking = this.#circuit.track(() => void watched.end().catch(() => {}));
      const callback = values.at(-1);
      if (typeof callback === "function") {
        const onResult = (...results: unknown[]) => {
          endTracking();
          callback(...results);
        };
        return query(...values.slice(0, -1), onResult);
      }
      const result = query(...values) as Promise<unknown>;
      return result.finally(endTracking).catch((error) => {
        throw toDatabaseError(error);
      });
    }) as typeof watched.query;
  }

  /** Wraps a pool so that its callers get an error instead of waiting. */
  guard(pool: pg.Pool): PostgresPool {
    return {
      options: pool.options,
      connect: async () => {
        this.#circuit.assertAvailable();
        if (pool.waitingCount >= MAX_WAITING)
          throw databaseUnavailable(new Error("too many queries are waiting for a connection"));
        try {
          return await pool.connect();
        } catch (error) {
          // A timeout can also mean that all connections are busy, so only a probe can detect an outage.
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
    // The database is available if it responds with an error, such as too many connections, unless it is shutting down
    // or starting (57P).
    const isAvailable = error instanceof pg.DatabaseError && !error.code?.startsWith("57P");
    if (!isAvailable) throw error;
  } finally {
    client.end().catch(() => {});
  }
}
