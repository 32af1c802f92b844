import pg from "pg";
import type { Logger } from "pino";

/** What several processes on one PostgreSQL agree by: locks that end with their holder, and short messages. */
export interface DatabaseSession {
  /** False where another process has it. A process may ask for each name once until it has let go of it. */
  tryLock(name: string): Promise<boolean>;
  unlock(name: string): Promise<void>;
  /** Waits for the lock, works, lets go of it. */
  withLock<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** To all processes, this one too; whoever is not connected then misses it. */
  notify(channel: Channel, payload: string): Promise<void>;
  listen(channel: Channel, listener: (payload: string) => void): void;
  /** Called when the connection breaks: every lock is lost then. */
  onLost(listener: () => void): void;
  close(): Promise<void>;
}

const CHANNELS = ["subtext_upload_wanted", "subtext_upload_free"] as const;
export type Channel = (typeof CHANNELS)[number];

const CONNECT_TIMEOUT_MS = 10_000;
const FIRST_RECONNECT_MS = 200;
const LAST_RECONNECT_MS = 5_000;
/** The first half of every lock's key, so that none meets the locks of pg-boss, Kysely or other programs. */
const LOCK_CLASS = 0x5b_7e_47;

/**
 * One connection of its own, for a lock of PostgreSQL's belongs to the connection that took it. A connection
 * that breaks is made anew; queries fail meanwhile.
 */
export async function openSession({
  databaseUrl,
  log,
}: {
  databaseUrl: string;
  log: Logger;
}): Promise<DatabaseSession> {
  const listeners = new Map<string, ((payload: string) => void)[]>();
  const losers: (() => void)[] = [];
  let client: pg.Client | null = await connect();
  let closed = false;
  let reconnecting: NodeJS.Timeout | undefined;

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
    fresh.on("error", (error) => log.warn({ err: error }, "the connection for locks broke"));
    fresh.on("end", () => {
      if (client !== fresh || closed) return;
      client = null;
      for (const lose of losers) lose();
      reconnect(FIRST_RECONNECT_MS);
    });
    try {
      await fresh.connect();
      for (const channel of CHANNELS) await fresh.query(`listen ${channel}`);
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
        log.warn({ err: error }, "the connection for locks can not be made");
        if (!closed) reconnect(Math.min(afterMs * 2, LAST_RECONNECT_MS));
      }
    }, afterMs);
  }

  async function query<T extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<T> {
    if (!client) throw new Error("the database does not answer");
    const { rows } = await client.query<T>(text, values);
    return rows[0]!;
  }

  const tryLock = async (name: string): Promise<boolean> => {
    const taken = "select pg_try_advisory_lock($1, hashtext($2)) as taken";
    return (await query<{ taken: boolean }>(taken, [LOCK_CLASS, name])).taken;
  };

  const unlock = async (name: string): Promise<void> => {
    // Lost with the connection that it was taken on.
    if (client) await query("select pg_advisory_unlock($1, hashtext($2))", [LOCK_CLASS, name]);
  };

  return {
    tryLock,
    unlock,

    async withLock(name, work) {
      await query("select pg_advisory_lock($1, hashtext($2))", [LOCK_CLASS, name]);
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
      losers.push(listener);
    },

    async close() {
      closed = true;
      clearTimeout(reconnecting);
      const last = client;
      client = null;
      await last?.end();
    },
  };
}
