import fc from "fast-check";
import { sql } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { markForRetag, retagMarked, setWeight, UNITS_PER_SECOND } from "../../src/queue/fair-queueing.ts";
import { type Claimed, QueueWorld } from "../support/queue-world.ts";
import { createTenant, shareService } from "../support/service.ts";

const service = shareService({ start: false });
const { signal } = new AbortController();
let world: QueueWorld;

beforeAll(async () => {
  world = await QueueWorld.open(service.service.parts);
  return () => world.close();
});

beforeEach(clear);

async function clear(): Promise<void> {
  await sql`delete from pgboss.job where name = 'transcribe'`.execute(world.db);
  await world.db.deleteFrom("environment_queue").execute();
  await world.db.updateTable("queue_clock").set({ virtual_time: 0, base: 0 }).execute();
}

async function makeEnvironments(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 0; number < count; number++) ids.push((await createTenant(service)).environmentId);
  return ids;
}

/** Environments by index. */
interface Step {
  do: "enqueue" | "claim" | "end" | "crash" | "remove";
  environment: number;
  workSeconds: number;
  which: number;
}

interface Flow {
  id: string;
  weight: number;
  queued: string[];
  /** Seconds of work. */
  largest: number;
  served: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom("enqueue", "enqueue", "claim", "claim", "claim", "end", "end", "crash", "remove"),
  environment: fc.nat({ max: 2 }),
  workSeconds: fc.integer({ min: 1, max: 60 }),
  which: fc.nat({ max: 20 }),
});

/**
 * While two environments have work queued, their shares of service, divided by their weights, differ by a bounded
 * amount: with one slot by the largest job of each (Goyal, Vin and Cheng, 1996), with D slots by D + 1 times that sum
 * (SFQ(D): Jin, Chase and Kaur, 2004). Priorities count whole seconds, which adds one to each job.
 */
test.each([1, 4])(
  "%s workers give every pair of busy environments service within the bound",
  {
    timeout: 600_000,
  },
  async (slots) => {
    const ids = await makeEnvironments(3);
    const weights = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 3, maxLength: 3 });
    const backlog = fc.array(
      step.map((each): Step => ({ ...each, do: "enqueue" })),
      { minLength: 6, maxLength: 12 },
    );
    const property = fc.asyncProperty(
      weights,
      backlog,
      fc.array(step, { minLength: 30, maxLength: 60 }),
      async (its, first, then) => {
        await clear();
        const flows: Flow[] = ids.map((id, place) => ({
          id,
          weight: its[place]!,
          queued: [],
          largest: 0,
          served: 0,
        }));
        for (const { id, weight } of flows)
          await world.db.transaction().execute((tx) => setWeight(tx, id, weight));
        const running: Claimed[] = [];
        /** Differences in service since both environments of a pair had work queued. */
        const since = new Map<string, { least: number; most: number }>();
        const flowOf = (environmentId: string) => flows.find(({ id }) => id === environmentId)!;
        for (const { do: what, environment, workSeconds, which } of [...first, ...then]) {
          if (what === "enqueue") {
            const flow = flows[environment]!;
            flow.queued.push(await world.enqueue(flow.id, workSeconds));
            flow.largest = Math.max(flow.largest, workSeconds);
          } else if (what === "claim" && running.length < slots) {
            const claimed = await world.claim();
            if (!claimed) continue;
            running.push(claimed);
            const flow = flowOf(claimed.environmentId);
            flow.queued.splice(flow.queued.indexOf(claimed.id), 1);
            flow.served += claimed.tag.charge / UNITS_PER_SECOND;
          } else if (what === "end") running.splice(which % Math.max(1, running.length), 1);
          else if (what === "crash" && running.length > 0) {
            const [crashed] = running.splice(which % running.length, 1);
            const flow = flowOf(crashed!.environmentId);
            flow.queued.push(await world.requeue(crashed!));
            flow.served -= crashed!.tag.charge / UNITS_PER_SECOND;
          } else if (what === "remove") {
            const flow = flows[environment]!;
            const [removed] = flow.queued.splice(which % Math.max(1, flow.queued.length), 1);
            if (removed) await world.remove(flow.id, removed);
            await retagMarked(world.db, signal);
          }
          for (const [place, f] of flows.entries()) {
            for (const g of flows.slice(place + 1)) {
              const key = `${f.id} ${g.id}`;
              if (f.queued.length === 0 || g.queued.length === 0) {
                since.delete(key);
                continue;
              }
              const difference = f.served / f.weight - g.served / g.weight;
              const { least, most } = since.get(key) ?? { least: difference, most: difference };
              const range = { least: Math.min(least, difference), most: Math.max(most, difference) };
              since.set(key, range);
              const bound = (f.largest + 1) / f.weight + (g.largest + 1) / g.weight;
              expect(range.most - range.least).toBeLessThanOrEqual(bound * (slots === 1 ? 1 : slots + 1));
            }
          }
        }
      },
    );
    await fc.assert(property, { numRuns: 25, endOnFailure: true });
  },
);

test("the first video of each of 1,000 environments with skewed load starts in the first round", {
  timeout: 600_000,
}, async () => {
  const environments = await makeEnvironments(1_000);
  const [flooding] = environments;
  for (let number = 0; number < 1_000; number++) await world.enqueue(flooding!, 60);
  for (const [place, id] of environments.entries()) {
    // The k-th has a share proportional to 1/k.
    for (let number = 0; number < Math.ceil(100 / (place + 1)); number++) await world.enqueue(id, 60);
  }
  const order: string[] = [];
  for (let number = 0; number < 1_100; number++) order.push((await world.claim())!.environmentId);
  expect(new Set(order.slice(0, 1_000)).size).toBe(1_000);
  // A later environment waits for at most one job of each environment with queued work, and most have none left.
  const [late] = await makeEnvironments(1);
  await world.enqueue(late!, 60);
  const { rows } = await sql<{ busy: number }>`
    select count(distinct group_id) as busy from pgboss.job
    where name = 'transcribe' and state < 'active'`.execute(world.db);
  let waited = 0;
  while ((await world.claim())!.environmentId !== late) waited += 1;
  expect(waited).toBeLessThanOrEqual(rows[0]!.busy);
});

describe("an environment that deletes 100,000 queued videos", () => {
  const DELETED = 100_000;

  test("gets its other videos started as if the deleted ones had never existed", {
    timeout: 600_000,
  }, async () => {
    const [a, b] = (await makeEnvironments(2)) as [string, string];
    await world.enqueue(a, 60);
    await sql`
      insert into pgboss.job (name, data, priority, group_id)
      select 'transcribe', jsonb_build_object('tag', jsonb_build_object(
        'start', number::bigint * 60000, 'work', 60000, 'charge', 60000)), -number * 60, ${a}
      from generate_series(1, ${DELETED}::int) as number`.execute(world.db);
    await world.db
      .updateTable("environment_queue")
      .set({ finish_tag: (DELETED + 1) * 60_000 })
      .where("environment_id", "=", a)
      .execute();
    for (let number = 0; number < 1_500; number++) await world.enqueue(a, 60);
    for (let number = 0; number < 10; number++) await world.enqueue(b, 60);
    await sql`delete from pgboss.job where name = 'transcribe' and data->>'subjectId' is null`.execute(
      world.db,
    );
    await world.db.transaction().execute((tx) => markForRetag(tx, a, { start: 60_000 }));
    await retagMarked(world.db, signal);

    expect(await world.finishTag(a)).toBe(1_501 * 60_000);
    const order: string[] = [];
    for (let number = 0; number < 20; number++) order.push((await world.claim())!.environmentId);
    expect(order.filter((id) => id === b)).toHaveLength(10);
    expect((await world.environmentsInClaimOrder()).length).toBe(1_491);
  });
});
