import { expect, test } from "vitest";
import type { Db, Tx } from "../../src/db/schema.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { listAttempts } from "../../src/transcription/attempt-queries.ts";
import { claimTranscription } from "../../src/transcription/claim.ts";
import { breakingAtCommit } from "../support/breaking-database.ts";
import { createTenant, shareService } from "../support/service.ts";
import { StateWorld } from "./state-model.ts";

const service = shareService({ start: false });
const { signal } = new AbortController();

/** A transcription that waits, with its job and a claimer. */
async function setUp() {
  const { environmentId } = await createTenant(service);
  const { database, queue, log } = service.service.parts;
  const world = new StateWorld(service.service.parts, [environmentId], null);
  await world.clear();
  await world.upload(environmentId);
  const [row] = (await world.rows()).values();
  const { id, job_id: jobId } = row!;
  const claimOver = (db: Db) =>
    claimTranscription(
      { db, queue, log, clock: systemClock, maxConcurrentPerEnvironment: null },
      { id: jobId, subjectId: id, signal },
      signal,
    );
  const look = async () => ({
    row: (await world.rows()).get(id),
    attempts: (await listAttempts(database.kysely, id)).map(({ outcome }) => outcome),
  });
  return { db: database.kysely, claimOver, look };
}

test("a claim whose commit succeeded without a response is used by its worker and counts as no crash", async () => {
  const { db, claimOver, look } = await setUp();
  const claim = await claimOver(breakingAtCommit(db, "after"));
  expect(claim).toMatchObject({ row: { status: "PROCESSING", attempt: 1 }, hadOutage: true });
  expect(await look()).toMatchObject({
    row: { status: "PROCESSING", attempt: 1, crash_count: 0 },
    attempts: [null],
  });
});

test("a claim whose commit succeeded without a response, and that another worker took over, is reverted", async () => {
  const { db, claimOver, look } = await setUp();
  await expect(
    claimOver(breakingAtCommit(db, "after", { meanwhile: () => claimOver(db) })),
  ).rejects.toMatchObject({
    code: "service_unavailable",
  });
  expect(await look()).toMatchObject({
    row: { status: "PROCESSING", attempt: 2, crash_count: 0 },
    attempts: ["returned", null],
  });
});

test("a claim that did not commit changes nothing, also for another worker that has claimed it since", async () => {
  const { db, claimOver, look } = await setUp();
  await expect(claimOver(breakingAtCommit(db, "before"))).rejects.toMatchObject({
    code: "service_unavailable",
  });
  expect(await look()).toMatchObject({
    row: { status: "PENDING", attempt: 0, crash_count: 0 },
    attempts: [],
  });

  const other = breakingAtCommit(db, "before");
  const late = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    try {
      return await other.transaction().execute(work);
    } catch (error) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      await claimOver(db);
      throw error;
    }
  };
  const overtaken = new Proxy(other, {
    get: (target, name) =>
      name === "transaction" ? () => ({ execute: late }) : Reflect.get(target, name, target),
  });
  await expect(claimOver(overtaken)).rejects.toMatchObject({ code: "service_unavailable" });
  expect(await look()).toMatchObject({
    row: { status: "PROCESSING", attempt: 1, crash_count: 0 },
    attempts: [null],
  });
});
