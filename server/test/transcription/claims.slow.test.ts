import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newJobId } from "../../src/queue/queue.ts";
import { claimTranscription } from "../../src/transcription/claim.ts";
import { skipTranscription } from "../../src/transcription/queries.ts";
import { createTenant, shareService } from "../support/service.ts";
import { StateWorld } from "./state-model.ts";

const service = shareService({ start: false });
const VIDEOS = 24;
const WORKERS = 6;

describe.each([[null], [1], [3]])("six workers that claim at the same time, with a cap of %s", (cap) => {
  test("claim each transcription once and keep to the cap, whatever the queue returns", async () => {
    const tenants = await Promise.all([1, 2, 3].map(() => createTenant(service)));
    const environmentIds = tenants.map(({ environmentId }) => environmentId);
    const { database, queue, log } = service.service.parts;
    const db = database.kysely;
    const world = new StateWorld(service.service.parts, environmentIds, cap);
    await world.clear();
    for (let video = 0; video < VIDEOS; video++) await world.upload(environmentIds[video % 3]!);

    const claimed: string[] = [];
    const running = new Map(environmentIds.map((id) => [id, 0]));
    const worker = async () => {
      while (claimed.length < VIDEOS) {
        const id = await takeJob();
        if (id === undefined) {
          await new Promise((resolve) => setTimeout(resolve, 5));
          continue;
        }
        const job = { id, subjectId: "", signal: new AbortController().signal };
        const deps = { db, queue, log, clock: systemClock, maxConcurrentPerEnvironment: cap };
        const claim = await claimTranscription(deps, job, new AbortController().signal);
        if (!claim) {
          await new Promise((resolve) => setTimeout(resolve, 20));
          continue;
        }
        const { id: transcriptionId, environment_id: environmentId, attempt } = claim.row;
        claimed.push(transcriptionId);
        running.set(environmentId, running.get(environmentId)! + 1);
        expect(running.get(environmentId)).toBeLessThanOrEqual(cap ?? WORKERS);
        await new Promise((resolve) => setTimeout(resolve, 3));
        running.set(environmentId, running.get(environmentId)! - 1);
        await db.transaction().execute(async (tx) => {
          const skip = {
            reason: "no_audio_track",
            duration: null,
            waveformPrefix: null,
            posterJobId: newJobId(),
            now: new Date(),
          };
          expect(await skipTranscription(tx, { transcriptionId, attempt }, skip)).toBe(true);
        });
      }
    };
    /** Returns jobs in any order, also jobs beyond the cap and jobs that are not due. */
    const takeJob = async (): Promise<string | undefined> => {
      const { rows } = await sql<{ id: string }>`
        update pgboss.job set state = 'active' where id = (
          select id from pgboss.job where name = 'transcribe' and state = 'created'
          order by random() limit 1 for update skip locked
        ) and name = 'transcribe' returning id`.execute(db);
      return rows[0]?.id;
    };
    await Promise.all(Array.from({ length: WORKERS }, worker));

    expect(new Set(claimed).size).toBe(VIDEOS);
    const rows = await world.rows();
    expect([...rows.values()].map(({ status, attempt }) => ({ status, attempt }))).toEqual(
      Array.from({ length: VIDEOS }, () => ({ status: "SKIPPED", attempt: 1 })),
    );
    await world.clear();
  });
});
