import { sql } from "kysely";
import { expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { advanceVirtualTime, type JobTag, recordWork } from "../../src/queue/fair-queueing.ts";
import { estimateStarts } from "../../src/queue/start-estimates.ts";
import { acceptUpload } from "../../src/uploads/accept-upload.ts";
import { queuePositions } from "../../src/videos/queue-positions.ts";
import { createTenant, MovableClock, shareService } from "../support/service.ts";

const service = shareService({ start: false });
const SLOTS = 3;
const capacity = { countSlots: async () => SLOTS, maxConcurrentPerEnvironment: null };

/** A repeatable sequence of numbers from 0 to 1. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

const db = () => service.service.parts.database.kysely;

async function enqueue(environmentId: string, sizeBytes: number): Promise<string> {
  const { queue } = service.service.parts;
  const videoId = newId("video");
  const video = { id: videoId, environment_id: environmentId, metadata: "{}", size_bytes: sizeBytes };
  await db()
    .insertInto("video")
    .values({ ...video, created_at: new Date() })
    .execute();
  await acceptUpload({ db: db(), queue, clock: new MovableClock() }, { videoId, sizeBytes });
  return videoId;
}

/** Claims the next job as a worker does; undefined if none waits. */
async function claim(): Promise<string | undefined> {
  return await db()
    .transaction()
    .execute(async (tx) => {
      const { rows } = await sql<{ id: string; tag: JobTag }>`
        delete from pgboss.job where id = (
          select id from pgboss.job where name = 'transcribe' and state < 'active'
          order by priority desc, created_on limit 1
        ) returning id, data->'tag' as tag`.execute(tx);
      const [job] = rows;
      if (!job) return undefined;
      const row = await tx
        .updateTable("transcription")
        .set({ status: "PROCESSING", attempt: 1, started_at: new Date() })
        .where("job_id", "=", job.id)
        .returning("video_id")
        .executeTakeFirstOrThrow();
      await advanceVirtualTime(tx, job.tag);
      return row.video_id;
    });
}

test("the estimated start of a video is within 30% of the actual one, in the median of a steady load", async () => {
  const random = randomNumbers(17);
  const tenants = await Promise.all([1, 2, 3].map(() => createTenant(service)));
  const SECONDS_PER_BYTE = 2e-6;
  let now = 0;
  let nextUploadAt = 0;
  const running = new Map<string, { endsAt: number; seconds: number }>();
  const estimates = new Map<string, { madeAt: number; seconds: number | null }>();
  const errors: number[] = [];
  let unknown = 0;
  for (let uploads = 0; errors.length < 60; ) {
    const firstEnd = Math.min(...[...running.values()].map(({ endsAt }) => endsAt));
    if (nextUploadAt <= firstEnd) {
      now = nextUploadAt;
      const { environmentId } = tenants[Math.floor(random() ** 2 * tenants.length)]!;
      const videoId = await enqueue(environmentId, Math.round((4 + 20 * random()) * 1e6));
      for (const [id, { endsAt }] of running) {
        const remaining = (endsAt - now) * (0.8 + 0.4 * random());
        await db()
          .updateTable("transcription")
          .set({ remaining_seconds: remaining })
          .where("video_id", "=", id)
          .execute();
      }
      const queued = (await queuePositions(db(), capacity)).get(videoId)!;
      estimates.set(videoId, { madeAt: now, seconds: queued.startsInSeconds });
      uploads += 1;
      // A backlog at first, then as much work as the workers can do.
      nextUploadAt = now + (uploads < 12 ? 0 : (2 * 28 * random()) / SLOTS);
    } else {
      now = firstEnd;
      const [videoId, { seconds }] = [...running].find(([, { endsAt }]) => endsAt === firstEnd)!;
      running.delete(videoId);
      await db()
        .transaction()
        .execute(async (tx) => {
          await tx
            .updateTable("transcription")
            .set({ status: "SKIPPED" })
            .where("video_id", "=", videoId)
            .execute();
          await recordWork(tx, videoId, seconds);
        });
    }
    while (running.size < SLOTS) {
      const videoId = await claim();
      if (videoId === undefined) break;
      const { size_bytes } = await db()
        .selectFrom("video")
        .select("size_bytes")
        .where("id", "=", videoId)
        .executeTakeFirstOrThrow();
      const seconds = size_bytes! * SECONDS_PER_BYTE * (0.7 + 0.6 * random());
      running.set(videoId, { endsAt: now + seconds, seconds });
      const { madeAt, seconds: estimated } = estimates.get(videoId)!;
      const waited = now - madeAt;
      if (estimated === null) unknown += 1;
      // Rounding hides how good the estimate of a short wait is.
      else if (waited > 20) errors.push(Math.abs(estimated - waited) / waited);
    }
  }
  const median = errors.toSorted((a, b) => a - b)[Math.floor(errors.length / 2)]!;
  expect(median).toBeLessThan(0.3);
  // The first videos are uploaded before any throughput was measured.
  expect(unknown).toBeLessThanOrEqual(15);
}, 120_000);

test("nothing is estimated without a worker, or while workers claim nothing", async () => {
  const { environmentId } = await createTenant(service);
  await sql`delete from pgboss.job where name = 'transcribe'`.execute(db());
  await sql`update transcription set status = 'SKIPPED'`.execute(db());
  await sql`update environment_queue set work_seconds_per_byte = 1e-6`.execute(db());
  const videoId = await enqueue(environmentId, 60e6);
  const startOf = async (slots = SLOTS) =>
    (await queuePositions(db(), { ...capacity, countSlots: async () => slots })).get(videoId);
  expect(await startOf()).toEqual({ environmentId, position: 1, startsInSeconds: 0 });
  expect(await startOf(0)).toEqual({ environmentId, position: 1, startsInSeconds: null });
  await sql`update pgboss.job set created_on = now() - interval '1 minute',
    start_after = now() - interval '1 minute' where name = 'transcribe'`.execute(db());
  expect(await startOf()).toEqual({ environmentId, position: 1, startsInSeconds: null });
});

test("a video waits for one slice of a long recording of another environment, and not for all of it", () => {
  const state = {
    slots: 1,
    cap: null,
    virtualTime: 0,
    environments: new Map([
      ["long", { finishTag: 60_000, weight: 1 }],
      ["short", { finishTag: 20_000, weight: 1 }],
    ]),
    running: [{ environmentId: "long", remainingSeconds: 7200 }],
  };
  const waiting = [
    { environmentId: "short", workSeconds: 10, tag: 0 },
    { environmentId: "short", workSeconds: 10, tag: 10_000 },
  ];
  expect(estimateStarts({ ...state, waiting })).toEqual([60, 70]);
  // A long recording of the same environment waits for all of it.
  const second = { environmentId: "long", workSeconds: 7200, tag: 59_000 };
  expect(estimateStarts({ ...state, waiting: [second] })).toEqual([7200]);
});

test("a video of an environment at its limit waits for one of its own, and others pass it", () => {
  const starts = estimateStarts({
    slots: 2,
    cap: 1,
    virtualTime: 0,
    environments: new Map(),
    running: [{ environmentId: "busy", remainingSeconds: 40 }],
    waiting: [
      { environmentId: "busy", workSeconds: 10, tag: 0 },
      { environmentId: "other", workSeconds: 10, tag: 5 },
    ],
  });
  expect(starts).toEqual([40, 0]);
});
