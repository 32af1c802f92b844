import type { PGlite } from "@electric-sql/pglite";
import type { Mutex } from "./mutex.ts";

/** A checkpoint is due when the write-ahead log has grown by this much since the last one. */
const CHECKPOINT_AFTER_BYTES = 16 * 1024 * 1024;

export interface Maintenance {
  stop(): Promise<void>;
}

/**
 * Replaces PostgreSQL's checkpointer and autovacuum, which do not run in PGlite. Runs after each interval with a write,
 * unless the database is in use. After `maxSkips` skipped intervals in a row, it waits for the database, because
 * otherwise the write-ahead log could grow without bound.
 */
export function startMaintenance(options: {
  pglite: PGlite;
  mutex: Mutex;
  intervalMs: number;
  maxSkips: number;
  /** Whether anything was written since the last call. */
  isNeeded: () => boolean;
  onError: (error: unknown) => void;
}): Maintenance {
  const { pglite, mutex, intervalMs, maxSkips, isNeeded, onError } = options;
  let skips = 0;
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    if (running) return;
    if (mutex.isLocked && skips < maxSkips) {
      skips += 1;
      return;
    }
    skips = 0;
    if (!isNeeded()) return;
    running = maintain(pglite, mutex)
      .catch(onError)
      .finally(() => {
        running = undefined;
      });
  }, intervalMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

export async function maintain(
  pglite: PGlite,
  mutex: Mutex,
  checkpointAfterBytes = CHECKPOINT_AFTER_BYTES,
): Promise<void> {
  const logBytes = await mutex.run(() => bytesSinceCheckpoint(pglite));
  if (logBytes > checkpointAfterBytes) await mutex.run(() => pglite.exec("checkpoint"));
  for (const table of await mutex.run(() => tablesToVacuum(pglite))) {
    await mutex.run(() => pglite.exec(`vacuum (analyze) ${table}`));
  }
}

async function bytesSinceCheckpoint(pglite: PGlite): Promise<number> {
  const { rows } = await pglite.query<{ bytes: number }>(`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::bigint as bytes
    from pg_control_checkpoint()`);
  return rows[0]!.bytes;
}

/**
 * Uses the default thresholds of PostgreSQL's autovacuum: dead rows, inserted rows and the age of the oldest
 * transaction.
 */
async function tablesToVacuum(pglite: PGlite): Promise<string[]> {
  const { rows } = await pglite.query<{ name: string }>(`
    select format('%I.%I', s.schemaname, s.relname) as name
    from pg_stat_all_tables s join pg_class c on c.oid = s.relid
    where c.relkind in ('r', 't', 'm') and s.schemaname <> 'pg_toast'
      and (s.n_dead_tup > 50 + 0.2 * greatest(c.reltuples, 0)
        or s.n_ins_since_vacuum > 1000 + 0.2 * greatest(c.reltuples, 0)
        or age(c.relfrozenxid) > 200000000)`);
  return rows.map((row) => row.name);
}
