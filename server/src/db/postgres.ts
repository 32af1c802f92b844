import { PostgresDialect, sql } from "kysely";
import pg from "pg";
import type { Logger } from "pino";
import { AppError } from "../lib/errors.ts";
import { isLostConnection } from "../lib/lost-connection.ts";
import { COLUMN_PARSERS } from "./column-types.ts";
import type { Database } from "./database.ts";
import { DatabaseWatch } from "./database-watch.ts";
import { isPrepared } from "./prepared.ts";
import { guardPool, ScopedKysely, TransactionScope } from "./transaction-scope.ts";

/** The oldest version that pg-boss supports. */
const OLDEST_VERSION = 13;
/** Also limits the wait for a free connection of the pool. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Makes PostgreSQL release the locks of a process that disappeared or froze during a transaction. */
const IDLE_TRANSACTION_TIMEOUT = "set idle_in_transaction_session_timeout = '30s'";
const QUERY_CONNECTIONS = 10;
const QUEUE_CONNECTIONS = 5;

export async function openPostgres<Schema>(options: {
  databaseUrl: string;
  log: Logger;
}): Promise<Database<Schema>> {
  const { databaseUrl, log } = options;
  const watch = new DatabaseWatch(databaseUrl, log);
  const prepare = (settings: string) => async (client: pg.ClientBase) => {
    watch.watch(client);
    await client.query({ text: settings, query_timeout: CONNECT_TIMEOUT_MS } as pg.QueryConfig);
  };
  const pool = new pg.Pool({
    Client: PreparingClient,
    connectionString: databaseUrl,
    application_name: "subtext",
    max: QUERY_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types: { getTypeParser },
    onConnect: prepare(`set time zone 'UTC'; ${IDLE_TRANSACTION_TIMEOUT}`),
  });
  // The pool replaces a broken idle connection. Without a listener, the event would end the process.
  pool.on("error", (error) =>
    log[isLostConnection(error) ? "debug" : "warn"]({ err: error }, "an idle database connection broke"),
  );

  const scope = new TransactionScope();
  const kysely = new ScopedKysely<Schema>(
    { dialect: new PostgresDialect({ pool: guardPool(watch.guard(pool), scope) }) },
    scope,
  );
  try {
    const { rows } = await sql<{ version: string }>`
      select current_setting('server_version') as version`.execute(kysely);
    const version = rows[0]!.version.split(" ")[0]!;
    if (Number.parseInt(version, 10) < OLDEST_VERSION) {
      throw new AppError(
        "database_version_mismatch",
        `The database is PostgreSQL ${version}, but ${OLDEST_VERSION} or newer is required.`,
      );
    }
    const queuePool = {
      connectionString: databaseUrl,
      application_name: "subtext-queue",
      max: QUEUE_CONNECTIONS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      onConnect: prepare(IDLE_TRANSACTION_TIMEOUT),
    };
    return {
      kysely,
      boss: queuePool,
      kind: "postgres",
      version,
      connections: () => ({
        open: pool.totalCount,
        idle: pool.idleCount,
        max: QUERY_CONNECTIONS,
        waiting: pool.waitingCount,
      }),
      async check() {
        await sql`select 1`.execute(kysely);
      },
      snapshot: null,
      async close() {
        watch.close();
        await kysely.destroy();
      },
    };
  } catch (error) {
    watch.close();
    await kysely.destroy();
    throw explain(error, databaseUrl);
  }
}

/** Names the setting to check, because a wrong URL is more likely at startup than an outage. Omits the password. */
function explain(error: unknown, databaseUrl: string): unknown {
  if (!(error instanceof AppError) || error.code !== "service_unavailable") return error;
  const where = URL.canParse(databaseUrl) ? ` at ${new URL(databaseUrl).host}` : "";
  const reason = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  const message = `The database${where} cannot be used${reason}. Check that DATABASE_URL is correct.`;
  return new AppError("service_unavailable", message, { cause: error.cause });
}

function getTypeParser(typeId: number, format?: "text" | "binary") {
  const parser = format === "binary" ? undefined : COLUMN_PARSERS[typeId];
  return parser ?? pg.types.getTypeParser(typeId, format);
}

/** A connection that sends queries marked as `prepared` as named statements. */
class PreparingClient extends pg.Client {
  readonly #names = new Map<string, string>();

  // Kysely passes the query text and its values. Other calls are passed through.
  override query(...args: unknown[]): never {
    const [text, values] = args;
    const passed =
      typeof text === "string" && isPrepared(text) ? [{ name: this.#nameOf(text), text, values }] : args;
    return Reflect.apply(super.query, this, passed) as never;
  }

  #nameOf(text: string): string {
    const name = this.#names.get(text) ?? `prepared_${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }
}
