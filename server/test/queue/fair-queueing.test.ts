import { sql } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { rebase, recordWork, retagMarked, setWeight } from "../../src/queue/fair-queueing.ts";
import { QueueWorld } from "../support/queue-world.ts";
import { createTenant, shareService } from "../support/service.ts";
import { StateWorld } from "../transcription/state-model.ts";

const service = shareService({ start: false });
const { signal } = new AbortController();
let world: QueueWorld;
let a: string;
let b: string;

beforeAll(async () => {
  world = await QueueWorld.open(service.service.parts);
  return () => world.close();
});

beforeEach(async () => {
  await sql`delete from pgboss.job where name = 'transcribe'`.execute(world.db);
  await world.db.updateTable("queue_clock").set({ virtual_time: 0, base: 0 }).execute();
  [a, b] = (await Promise.all([1, 2].map(async () => (await createTenant(service)).environmentId))) as [
    string,
    string,
  ];
});

async function times<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (let number = 0; number < count; number++) made.push(await make());
  return made;
}

async function startTags(environmentId: string): Promise<number[]> {
  const { rows } = await sql<{ start: number }>`
    select (data->'tag'->>'start')::bigint as start from pgboss.job
    where name = 'transcribe' and state < 'active' and group_id = ${environmentId} order by priority desc`.execute(
    world.db,
  );
  return rows.map(({ start }) => start);
}

describe("one worker", () => {
  test("starts another environment's video second, behind 20 of the first", async () => {
    await times(20, () => world.enqueue(a, 30));
    await world.enqueue(b, 30);
    expect((await world.environmentsInClaimOrder()).slice(0, 3)).toEqual([a, b, a]);
  });

  test("starts another environment's video next, however many of the first are done", async () => {
    await times(20, () => world.enqueue(a, 30));
    await times(10, () => world.claim());
    await world.enqueue(b, 30);
    expect((await world.claim())?.environmentId).toBe(b);
  });

  test("shares the work in proportion to the weights", async () => {
    await world.db.transaction().execute((tx) => setWeight(tx, a, 3));
    await times(12, () => world.enqueue(a, 30));
    await times(12, () => world.enqueue(b, 30));
    const first = (await world.environmentsInClaimOrder()).slice(0, 12);
    expect(first.filter((environmentId) => environmentId === a)).toHaveLength(9);
  });

  test("first claims a job that returned after a short backoff", async () => {
    await times(3, () => world.enqueue(a, 30));
    await times(3, () => world.enqueue(b, 30));
    const claimed = await world.claim();
    await times(2, () => world.claim());
    const id = await world.requeue(claimed!);
    expect((await world.claim())?.id).toBe(id);
  });
});

describe("retagging", () => {
  test("moves the jobs behind removed jobs forward, and later jobs too", async () => {
    const jobs = await times(6, () => world.enqueue(a, 30));
    const before = await startTags(a);
    for (const id of [jobs[0]!, jobs[3]!]) await world.remove(a, id);
    await retagMarked(world.db, signal);
    expect(await startTags(a)).toEqual(before.slice(0, 4));
    expect(await world.finishTag(a)).toBe(before[4]);
    // Nothing is left to retag.
    const { rows } = await sql`select from environment_queue where retag_from is not null`.execute(world.db);
    expect(rows).toEqual([]);
  });

  test("gives an environment no service for a time when it had no work", async () => {
    const first = await world.enqueue(a, 30);
    await times(5, () => world.enqueue(b, 60));
    await sql`update pgboss.job set start_after = now() + interval '1 hour' where id = ${first}`.execute(
      world.db,
    );
    await times(5, () => world.claim());
    const late = await world.enqueue(a, 30);
    const [, lateStart] = await startTags(a);
    const removed = await world.enqueue(a, 30);
    await world.remove(a, removed);
    await world.remove(a, first);
    await retagMarked(world.db, signal);
    expect(await startTags(a)).toEqual([lateStart]);
    expect(lateStart).toBe(await world.virtualTime());
    expect((await world.claim())?.id).toBe(late);
  });

  test("applies a new weight to queued jobs", async () => {
    await times(4, () => world.enqueue(a, 30));
    const [first = 0] = await startTags(a);
    const spaced = (units: number) => [0, 1, 2, 3].map((place) => first + place * units);
    expect(await startTags(a)).toEqual(spaced(30_000));
    await world.db.transaction().execute((tx) => setWeight(tx, a, 3));
    expect(await startTags(a)).toEqual(spaced(10_000));
    await world.db.transaction().execute((tx) => setWeight(tx, a, 1));
    expect(await startTags(a)).toEqual(spaced(30_000));
    expect(await world.finishTag(a)).toBe(first + 120_000);
  });
});

test("a rebase preserves the order of queued and later jobs", async () => {
  await times(3, () => world.enqueue(a, 40));
  await times(3, () => world.enqueue(b, 30));
  const claimed = await world.claim();
  const priorities = async () => {
    const { rows } = await sql<{ priority: number }>`
      select max(priority) as priority from pgboss.job where name = 'transcribe' and state < 'active'`.execute(
      world.db,
    );
    return rows[0]!.priority;
  };
  await rebase(world.db, 1);
  expect(await priorities()).toBe(0);
  await world.requeue(claimed!);
  await world.enqueue(b, 30);
  expect(await world.environmentsInClaimOrder()).toEqual([b, a, b, a, b, a, b]);
});

test("a tag beyond the range of priorities waits behind all others", async () => {
  await world.db.insertInto("environment_queue").values({ environment_id: a, finish_tag: 1e15 }).execute();
  await world.enqueue(a, 30);
  await world.enqueue(b, 30);
  expect(await world.environmentsInClaimOrder()).toEqual([b, a]);
});

test("the estimate of work adapts to the time per byte of the environment's recordings", async () => {
  const states = new StateWorld(service.service.parts, [a], null);
  await states.upload(a);
  const [row] = (await states.rows()).values();
  await world.db.updateTable("video").set({ size_bytes: 1_000 }).where("id", "=", row!.video_id).execute();
  const record = (seconds: number) =>
    world.db.transaction().execute((tx) => recordWork(tx, row!.video_id, seconds));
  const rate = async () =>
    (
      await world.db
        .selectFrom("environment_queue")
        .selectAll()
        .where("environment_id", "=", a)
        .executeTakeFirstOrThrow()
    ).work_seconds_per_byte;
  await record(20);
  expect(await rate()).toBeCloseTo(0.02);
  await record(10);
  expect(await rate()).toBeCloseTo(0.019);
  await states.clear();
});
