import { describe, expect, test } from "vitest";
import { noteMissing } from "../src/db/missing-files.ts";
import type { Tx } from "../src/db/schema.ts";
import { deleteVideoRows } from "../src/db/videos.ts";
import { deleteWebhookEndpoint } from "../src/db/webhook-endpoints.ts";
import { createWebhookEndpoint } from "../src/webhooks/endpoints.ts";
import { emitCompleted } from "./support/emit-completed.ts";
import { seedTranscript } from "./support/seed-transcript.ts";
import { createTenant, shareService } from "./support/service.ts";

/** The embedded database runs one transaction at a time. */
const isPostgres = Boolean(process.env.TEST_DATABASE_URL);
const subtext = shareService({ start: false });

/** Runs the work in a transaction, and commits it only after what was begun meanwhile waits for it. */
async function meanwhile(
  work: (tx: Tx) => Promise<unknown>,
  other: () => Promise<unknown>,
): Promise<unknown> {
  const db = subtext.service.parts.database.kysely;
  const { promise: done, resolve: tell } = Promise.withResolvers<void>();
  const { promise: letGo, resolve: release } = Promise.withResolvers<void>();
  const first = db.transaction().execute(async (tx) => {
    await work(tx);
    tell();
    await letGo;
  });
  await done;
  const second = other();
  // Whichever ends first: what waits for nothing shows so by ending.
  await Promise.race([second, new Promise((resolve) => setTimeout(resolve, 500))]).catch(() => {});
  release();
  await first;
  return await second;
}

describe.skipIf(!isPostgres)("what happens while something is deleted", () => {
  test("a transcription completes whose webhook endpoint is being deleted", async () => {
    const { environmentId } = await createTenant(subtext);
    const { database, clock, endpointPolicy: policy } = subtext.service.parts;
    const db = database.kysely;
    const wanted = { environmentId, url: "https://example.com/hook" };
    const { id: deleted } = await createWebhookEndpoint({ db, clock, policy }, wanted);
    const { id: kept } = await createWebhookEndpoint({ db, clock, policy }, wanted);
    await meanwhile(
      (tx) => deleteWebhookEndpoint(tx, deleted),
      () => emitCompleted(subtext.service, environmentId),
    );
    const deliveries = await db
      .selectFrom("delivery")
      .select("endpoint_id")
      .where("endpoint_id", "in", [deleted, kept])
      .execute();
    expect(deliveries).toEqual([{ endpoint_id: kept }]);
  });

  test("files of a video that is being deleted are not noted as missing, and those of others are", async () => {
    const { environmentId } = await createTenant(subtext);
    const seed = () => seedTranscript(subtext.service, { environmentId, language: "en", text: "Gone." });
    const [{ videoId: deleted }, { videoId: kept }] = [await seed(), await seed()];
    const db = subtext.service.parts.database.kysely;
    const missing = [deleted, kept].map((videoId) => ({ videoId, part: "recording" as const }));
    await meanwhile(
      (tx) => deleteVideoRows(tx, environmentId, deleted),
      () => noteMissing(db, { lookedAt: [deleted, kept], missing, now: new Date() }),
    );
    const noted = await db.selectFrom("missing_file").select("video_id").execute();
    expect(noted).toEqual([{ video_id: kept }]);
  });
});

if (!isPostgres) {
  describe("what happens while something is deleted", () => {
    test.skip("is not tested: TEST_DATABASE_URL names no PostgreSQL", () => {});
  });
}
