import type { Db as QueueDatabase } from "pg-boss";

/**
 * Returns the milliseconds until the first waiting job of each queue is due. Queues without waiting jobs have no entry.
 */
export async function msUntilDue(db: QueueDatabase, names: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await db.executeSql(
    `select name, due_in_ms from unnest($1::text[]) as queue (name) cross join lateral (
       select extract(epoch from min(start_after) - clock_timestamp())::float8 * 1000 as due_in_ms
       from pgboss.job where job.name = queue.name and state < 'active' and not blocked
     ) as waiting
     where due_in_ms is not null`,
    [names],
  );
  return new Map(rows.map(({ name, due_in_ms }) => [name, due_in_ms]));
}

/**
 * Returns the milliseconds until the first running job counts as lost, unless its worker sends another heartbeat.
 * @returns null if no job is running
 */
export async function msUntilLost(db: QueueDatabase, names: readonly string[]): Promise<number | null> {
  const { rows } = await db.executeSql(
    `select extract(epoch from min(least(
       heartbeat_on + heartbeat_seconds * interval '1 second', started_on + expire_seconds * interval '1 second'
     )) - clock_timestamp())::float8 * 1000 as lost_in_ms
     from pgboss.job where name = any($1::text[]) and state = 'active'`,
    [names],
  );
  return rows[0].lost_in_ms;
}
