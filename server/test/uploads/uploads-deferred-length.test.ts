import { describe, expect, test } from "vitest";
import { recordActivity } from "../../src/uploads/queries.ts";
import { findVideo } from "../../src/videos/queries.ts";
import { createTenant, shareService } from "../support/service.ts";
import { createUpload, patchUpload } from "../support/tus-requests.ts";

/** Accepts uploads, but has no workers. */
const service = shareService({ start: false, env: { MAX_UPLOAD_BYTES: "1000000" } });

describe("an upload with a deferred length", () => {
  /** Creates two uploads with a deferred length in an environment whose other uploads leave room for `room` bytes. */
  async function createDeferred(room: number) {
    const tenant = await createTenant(service, { aiTranscription: false });
    const db = service.service.parts.database.kysely;
    const open = async () => {
      const headers = (await createUpload(service, tenant, { "upload-defer-length": "1" })).headers;
      const location = headers.get("location")!;
      return { location, id: location.split("/").at(-1)! };
    };
    const other = await open();
    await db
      .updateTable("video")
      .set({ received_bytes: 100_000_000 - room })
      .where("id", "=", other.id)
      .execute();
    return { tenant, db, ...(await open()) };
  }

  test("counts its received bytes in the limit of its environment", async () => {
    const { tenant, location } = await createDeferred(20_000);
    expect((await patchUpload(service, tenant, location, 0, Buffer.alloc(15_000))).status).toBe(204);
    for (const [length, status] of [
      [5_001, 409],
      [5_000, 201],
    ] as const) {
      expect((await createUpload(service, tenant, { "upload-length": String(length) })).status).toBe(status);
    }
  });

  test("gets no more bytes, and cannot declare a length, beyond the limit", async () => {
    const { tenant, location } = await createDeferred(20_000);
    const send = async (bytes: number, headers: Record<string, string> = {}) =>
      await patchUpload(service, tenant, location, 15_000, Buffer.alloc(bytes), headers);
    expect((await patchUpload(service, tenant, location, 0, Buffer.alloc(15_000))).status).toBe(204);
    for (const refused of [await send(5_001), await send(0, { "upload-length": "20001" })]) {
      const problem = { code: "open_upload_limit_reached" };
      expect([refused.status, await refused.json()]).toMatchObject([409, problem]);
    }
    expect((await send(0, { "upload-length": "20000" })).status).toBe(204);
    const again = await send(0, { "upload-length": "20000" });
    expect([again.status, await again.json()]).toMatchObject([
      400,
      { code: "upload_rejected", detail: expect.stringContaining("was declared before") },
    ]);
    expect((await send(5_000)).status).toBe(204);
  });

  test("is not created with content beyond the limit, which its client could not cancel", async () => {
    const { tenant, db } = await createDeferred(20_000);
    const countVideos = async () =>
      (await db.selectFrom("video").select("id").where("environment_id", "=", tenant.environmentId).execute())
        .length;
    const before = await countVideos();
    const refused = await fetch(`${service.url}/api/v1/uploads`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${tenant.key}`,
        "tus-resumable": "1.0.0",
        "upload-defer-length": "1",
        "content-type": "application/offset+octet-stream",
      },
      body: Buffer.alloc(20_001),
    });
    expect([refused.status, await refused.json()]).toMatchObject([
      409,
      { code: "open_upload_limit_reached" },
    ]);
    expect(await countVideos()).toBe(before);
  });

  test("is broken off beyond the limit during a request of any length", async () => {
    const { db, id } = await createDeferred(20_000);
    async function* endless() {
      for (;;) {
        yield Buffer.alloc(1_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    const sent = Array.fromAsync(recordActivity(db, id, endless(), { offset: 0, maxUploadBytes: 1_000_000 }));
    await expect(sent).rejects.toMatchObject({ code: "open_upload_limit_reached" });
    expect((await findVideo(db, id))?.received_bytes).toBeGreaterThan(20_000);
  });
});
