import { sql } from "kysely";
import pg from "pg";
import type { Logger } from "pino";
import { databaseUnavailable, isLostConnection, toDatabaseError } from "../lib/lost-connection.ts";
import type { Db } from "./schema.ts";

/**
 * Coordinates processes through one PostgreSQL database, with locks and notifications. A lock is released when its
 * holder ends.
 */
export interface DatabaseSession {
  /** Returns false if another process holds the lock. Call `unlock` before you lock the same name again. */
  tryLock(name: string): Promise<boolean>;
  unlock(name: string): Promise<void>;
  withLock<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Notifies all connected processes, including this one. */
  notify(channel: Channel, payload: string): Promise<void>;
  listen(channel: Channel, listener: (payload: string) => void): void;
  /** Calls the listener when the connection breaks, which releases all locks. */
  onLost(listener: () => void): void;
  close(): Promise<void>;
}

const CHANNELS = ["subtext_upload_wanted", "subtext_upload_free"] as const;
export type Channel = (typeof CHANNELS)[number];

const CONNECT_TIMEOUT_MS = 5_000;
/** Does not apply to `withLock`, which may wait for a long time. */
const QUERY_TIMEOUT_MS = 5_000;
const HEARTBEAT_MS = 5_000;
/**
 * Makes the server release the locks of a process that is disconnected or frozen. `idle_session_timeout` requires
 * PostgreSQL 14.
 */
const SERVER_TIMEOUTS = `
  set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3;
  select set_config('idle_session_timeout', '30s', false)
  where current_setting('server_version_num')::int >= 140000`;
const FIRST_RECONNECT_MS = 200;
const MAX_RECONNECT_MS = 5_000;
/** First half of every lock key. Prevents collisions with the locks of pg-boss, Kysely and other programs. */
const LOCK_CLASS = 0x5b_7e_47;
/** Every worker holds a shared lock with this name, so that workers can be counted. */
const WORKER_LOCK = "worker";

/**
 * Uses a dedicated connection, because PostgreSQL's session locks belong to the connection that took them. Replaces a
 * broken or unresponsive connection. Queries fail until the new one is open.
 */
export async function openSession({
  databaseUrl,
  log,
  isWorker = false,
}: {
  databaseUrl: string;
  log: Logger;
  /** Whether `countWorkers` counts this process. */
  isWorker?: boolean;
}): Promise<DatabaseSession> {
  const listeners = new Map<string, ((payload: string) => void)[]>();
  const lostListeners: (() => void)[] = [];
  let client: pg.Client | null = null;
  /** Each promise resolves when its connection, which runs one query at a time, has run all earlier ones. */
  const earlierQueries = new WeakMap<pg.Client, Promise<unknown>>();
  let closed = false;
  let reconnecting: NodeJS.Timeout | undefined;
  /** Pauses heartbeats, because a query would also wait for the lock. TCP keepalive detects a broken connection. */
  let waitsForLock = false;
  client = await connect();
  const heartbeat = setInterval(() => {
    // A failed heartbeat ends the connection, and the `end` listener opens a new one.
    if (client && !waitsForLock) query("select 1", []).catch(() => {});
  }, HEARTBEAT_MS);
  heartbeat.unref();

  async function connect(): Promise<pg.Client> {
    const fresh = new pg.Client({
      connectionString: databaseUrl,
      application_name: "subtext-session",
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: CONNECT_TIMEOUT_MS,
    });
    fresh.on("notification", ({ channel, payload = "" }) => {
      for (const listener of listeners.get(channel) ?? []) listener(payload);
    });
    fresh.on("error", (error) =>
      log[isLostConnection(error) ? "debug" : "warn"]({ err: error }, "the connection for locks broke"),
    );
    fresh.on("end", () => {
      if (client !== fresh || closed) return;
      client = null;
      for (const listener of lostListeners) listener();
      reconnect(FIRST_RECONNECT_MS);
    });
    try {
      await fresh.connect();
      for (const text of [SERVER_TIMEOUTS, ...CHANNELS.map((channel) => `listen ${channel}`)]) {
        await fresh.query({ text, query_timeout: QUERY_TIMEOUT_MS } as pg.QueryConfig);
      }
      if (isWorker) {
        const text = "select pg_try_advisory_lock_shared($1, hashtext($2))";
        const values = [LOCK_CLASS, WORKER_LOCK];
        await fresh.query({ text, values, query_timeout: QUERY_TIMEOUT_MS } as pg.QueryConfig);
      }
    } catch (error) {
      await fresh.end().catch(() => {});
      throw error;
    }
    return fresh;
  }

  function reconnect(afterMs: number): void {
    reconnecting = setTimeout(async () => {
      try {
        const fresh = await connect();
        if (closed) await fresh.end();
        else client = fresh;
      } catch (error) {
        log[isLostConnection(error) ? "debug" : "warn"](
          { err: error },
          "the connection for locks could not be opened",
        );
        if (!closed) reconnect(Math.min(afterMs * 2, MAX_RECONNECT_MS));
      }
    }, afterMs);
  }

  async function query<T extends pg.QueryResultRow>(
    text: string,
    values: unknown[],
    { hasTimeout = true } = {},
  ): Promise<T> {
    const connection = client;
    if (!connection) throw databaseUnavailable(new Error("the connection for locks is being reopened"));
    // After a timeout, it is unknown which locks the connection holds, so it is closed.
    const timer = hasTimeout
      ? setTimeout(() => connection.end().catch(() => {}), QUERY_TIMEOUT_MS)
      : undefined;
    try {
      const answer = Promise.resolve(earlierQueries.get(connection)).then(() =>
        connection.query<T>(text, values),
      );
      earlierQueries.set(
        connection,
        answer.catch(() => {}),
      );
      return (await answer).rows[0]!;
    } catch (error) {
      throw toDatabaseError(error);
    } finally {
      clearTimeout(timer);
    }
  }

  const tryLock = async (name: string): Promise<boolean> => {
    const taken = "select pg_try_advisory_lock($1, hashtext($2)) as taken";
    return (await query<{ taken: boolean }>(taken, [LOCK_CLASS, name])).taken;
  };

  const unlock = async (name: string): Promise<void> => {
    // Without a connection, the lock is already lost.
    if (client) await query("select pg_advisory_unlock($1, hashtext($2))", [LOCK_CLASS, name]);
  };

  return {
    tryLock,
    unlock,

    async withLock(name, work) {
      waitsForLock = true;
      try {
        await query("select pg_advisory_lock($1, hashtext($2))", [LOCK_CLASS, name], { hasTimeout: false });
      } finally {
        waitsForLock = false;
      }
      try {
        return await work();
      } finally {
        await unlock(name);
      }
    },

    async notify(channel, payload) {
      await query("select pg_notify($1, $2)", [channel, payload]);
    },

    listen(channel, listener) {
      listeners.set(channel, [...(listeners.get(channel) ?? []), listener]);
    },

    onLost(listener) {
      lostListeners.push(listener);
    },

    async close() {
      closed = true;
      clearTimeout(reconnecting);
      clearInterval(heartbeat);
      const last = client;
      client = null;
      await last?.end();
    },
  };
}

export async function countWorkers(db: Db): Promise<number> {
  const { rows } = await sql<{ workers: number }>`
    select count(*)::int as workers from pg_locks
    where locktype = 'advisory' and granted
      and database = (select oid from pg_database where datname = current_database())
      and classid = ${LOCK_CLASS}::int4::oid and objid = hashtext(${WORKER_LOCK})::oid and objsubid = 2
  `.execute(db);
  return rows[0]!.workers;
}
