import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import * as tus from "tus-js-client";
import { expect, onTestFinished, test } from "vitest";
import { createTenant, shareService, type Tenant } from "../support/service.ts";
import { readRecording } from "../support/stored-recording.ts";

const service = shareService({ start: false });
const file = Buffer.from("not really a video");

/** A proxy that forwards requests, and can respond with a 502 of its own. */
async function startProxy(
  answersItself: (request: IncomingMessage, count: number) => "before" | "after" | null,
) {
  let count = 0;
  const server = createServer((incoming: IncomingMessage, outgoing: ServerResponse) => {
    count += 1;
    const when = answersItself(incoming, count);
    if (when === "before") {
      incoming.resume();
      outgoing.writeHead(502).end();
      return;
    }
    const { method, headers, url = "/" } = incoming;
    const forwarded = request(new URL(url, service.url), { method, headers }, (response) => {
      if (when === null) {
        outgoing.writeHead(response.statusCode ?? 500, response.headers);
        response.pipe(outgoing);
        return;
      }
      response.resume();
      outgoing.writeHead(502).end();
    });
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/uploads`;
}

async function uploadThrough(endpoint: string, { key }: Tenant, headers: Record<string, string>) {
  return await new Promise<string>((resolve, reject) => {
    const upload = new tus.Upload(file, {
      endpoint,
      headers: { authorization: `Bearer ${key}`, ...headers },
      retryDelays: [0, 0, 0, 0],
      metadata: { filename: "meeting.mp4" },
      onError: reject,
      onSuccess: () => resolve(upload.url?.split("/").at(-1) ?? ""),
    });
    upload.start();
  });
}

async function videosOf({ environmentId }: Tenant) {
  return await service.service.parts.database.kysely
    .selectFrom("video")
    .select(["id", "uploaded_at"])
    .where("environment_id", "=", environmentId)
    .execute();
}

/** Fails the first PATCH and the HEAD after it; then the client creates its upload again. */
const duringOutage = (when: "before" | "after") => {
  const seen = new Set<string>();
  return ({ method = "" }: IncomingMessage) => {
    if ((method !== "PATCH" && method !== "HEAD") || seen.has(method)) return null;
    seen.add(method);
    return when;
  };
};

test.each(["before", "after"] as const)(
  "a client that creates its upload again with the same Idempotency-Key creates one video, with an outage %s its bytes arrive",
  async (when) => {
    const tenant = await createTenant(service);
    const endpoint = await startProxy(duringOutage(when));
    const id = await uploadThrough(endpoint, tenant, { "idempotency-key": "meeting-1" });
    expect(await videosOf(tenant)).toEqual([{ id, uploaded_at: expect.any(Date) }]);
    expect((await readRecording(service.service, id))?.equals(file)).toBe(true);
  },
);

test("without an Idempotency-Key it creates a second one", async () => {
  const tenant = await createTenant(service);
  await uploadThrough(await startProxy(duringOutage("after")), tenant, {});
  expect(await videosOf(tenant)).toHaveLength(2);
});

test("an Idempotency-Key applies only to the same upload, and only as long as the upload exists", async () => {
  const tenant = await createTenant(service);
  const create = (length: number) =>
    fetch(`${service.url}/api/v1/uploads`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${tenant.key}`,
        "tus-resumable": "1.0.0",
        "upload-length": String(length),
        "idempotency-key": "one",
      },
    });
  const first = await create(10);
  const second = await create(10);
  expect([second.status, second.headers.get("location")]).toEqual([201, first.headers.get("location")]);
  expect(second.headers.get("idempotency-replayed")).toBe("true");
  const other = await create(11);
  expect([other.status, await other.json()]).toMatchObject([422, { code: "idempotency_key_reused" }]);

  await fetch(new URL(first.headers.get("location") ?? "", service.url), {
    method: "DELETE",
    headers: { authorization: `Bearer ${tenant.key}`, "tus-resumable": "1.0.0" },
  });
  const third = await create(10);
  expect(third.status).toBe(201);
  expect(third.headers.get("location")).not.toBe(first.headers.get("location"));
});

test("concurrent requests with one Idempotency-Key create one upload", async () => {
  const tenant = await createTenant(service);
  const statuses = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const { status } = await fetch(`${service.url}/api/v1/uploads`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${tenant.key}`,
          "tus-resumable": "1.0.0",
          "upload-length": "10",
          "idempotency-key": "together",
        },
      });
      return status;
    }),
  );
  expect(statuses).toContain(201);
  expect(statuses.every((status) => status === 201 || status === 409)).toBe(true);
  expect(await videosOf(tenant)).toHaveLength(1);
});
