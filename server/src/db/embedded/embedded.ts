import { fsyncSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import { PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from "kysely";
import { fromPglite, type Db as QueueDatabase } from "pg-boss";
import type { AppError } from "../../lib/errors.ts";
import { lockFolder } from "../../lib/folder-lock.ts";
import type { Database, DatabaseOptions } from "../database.ts";
import { isPrepared } from "../prepared.ts";
import { guardPool, ScopedKysely, TransactionScope } from "../transaction-scope.ts";
import { prepareDataFolder } from "./data-folder.ts";
import { startMaintenance } from "./maintenance.ts";
import { Mutex } from "./mutex.ts";
import { PreparedStatements } from "./prepared-statements.ts";
import { snapshotDatabase } from "./snapshot.ts";
import { startPglite } from "./start-pglite.ts";

const MAINTENANCE_INTERVAL_MS = 5_000;
const MAINTENANCE_MAX_SKIPS = 12;

export interface EmbeddedOptions extends Omit<DatabaseOptions, "databaseUrl"> {
  fsync?: (fileDescriptor: number) => void;
}

/** Opens PostgreSQL in this process. It runs one query or one transaction at a time. */
export async function openEmbedded<Schema>(options: EmbeddedOptions): Promise<Database<Schema>> {
  const { log } = options;
  const folder = resolve(options.folder);
  const onLog = (line: string) => log.debug({ line }, "embedded database log");
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  const lock = lockFolder(folder);
  try {
    await prepareDataFolder(folder, onLog);
    let crash: AppError | undefined;
    let writtenSinceMaintenance = true;
    const { fsync = fsyncSync } = options;
    const pglite = await startPglite(folder, {
      onLog,
      onCrash(error) {
        crash = error;
        log.fatal({ err: error }, "the embedded database has stopped; restart the service");
        options.onCrash?.(error);
      },
      fsync(fileDescriptor) {
        writtenSinceMaintenance = true;
        fsync(fileDescriptor);
      },
    });
    const mutex = new Mutex();
    const scope = new TransactionScope();
    const maintenance = startMaintenance({
      pglite,
      mutex,
      intervalMs: MAINTENANCE_INTERVAL_MS,
      maxSkips: MAINTENANCE_MAX_SKIPS,
      isNeeded() {
        const isNeeded = writtenSinceMaintenance;
        writtenSinceMaintenance = false;
        return isNeeded;
      },
      onError: (error) => log.error({ err: error }, "could not run database maintenance"),
    });
    const pool = createPool(pglite, mutex, async () => {
      await maintenance.stop();
      // After a crash, memory may be corrupt, so the database is not closed. The next start recovers it.
      if (crash === undefined) await mutex.run(() => pglite.close());
      lock.release();
    });
    const kysely = new ScopedKysely<Schema>(
      { dialect: new PostgresDialect({ pool: guardPool(pool, scope) }) },
      scope,
    );
    const { rows } = await sql<{ version: string }>`
      select current_setting('server_version') as version`.execute(kysely);
    return {
      kysely,
      boss: { db: createQueueDatabase(pglite, mutex, scope), backend: "pglite" },
      kind: "embedded",
      version: rows[0]!.version,
      connections: () => ({ open: 1, idle: mutex.isLocked ? 0 : 1, max: 1, waiting: mutex.waiting }),
      async check() {
        await sql`select 1`.execute(kysely);
      },
      snapshot: (to, options) => snapshotDatabase({ pglite, mutex, folder }, to, options),
      close: () => kysely.destroy(),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Creates the pool that Kysely's PostgreSQL driver expects. It has a single connection. */
function createPool(pglite: PGlite, mutex: Mutex, end: () => Promise<void>): PostgresPool {
  const preparedStatements = new PreparedStatements(pglite);
  const run = async (statement: string, parameters: readonly unknown[]) => {
    if (isPrepared(statement)) return await preparedStatements.query(statement, parameters);
    // Like pg, allows several statements in one query without parameters, such as a migration.
    if (parameters.length === 0) return (await pglite.exec(statement)).at(-1)!;
    return await pglite.query(statement, [...parameters]);
  };
  const query = async (statement: string, parameters: readonly unknown[]) => {
    const { command, affectedRows, rows } = await run(statement, parameters);
    return { command, rowCount: affectedRows ?? 0, rows };
  };
  return {
    options: {},
    async connect() {
      const release = await mutex.acquire();
      return {
        query: query as PostgresPoolClient["query"],
        release(broken) {
          // A real pool would close a broken connection, which ends its transaction.
          if (broken) pglite.query("rollback").then(release, release);
          else release();
        },
      };
    },
    end,
  };
}

/** Lets pg-boss's queries take turns with all others. */
function createQueueDatabase(pglite: PGlite, mutex: Mutex, scope: TransactionScope): QueueDatabase {
  const { executeSql, listen } = fromPglite(pglite);
  return {
    async executeSql(statement, values) {
      scope.assertOutside();
      return await mutex.run(() => executeSql(statement, values));
    },
    async listen(channel, onNotification, onReconnect) {
      const handle = await mutex.run(() => listen!(channel, onNotification, onReconnect));
      return { close: () => mutex.run(() => handle.close()) };
    },
  };
}
