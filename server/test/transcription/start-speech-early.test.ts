import { expect, test, vi } from "vitest";
import { createTenant, startService, type Tenant, until } from "../support/service.ts";

test("an upload starts speech recognition while it is running, unless AI Transcription is off", async () => {
  const service = await startService({});
  const start = vi.spyOn(service.service.parts.speech, "start").mockResolvedValue();
  const create = async ({ key }: Tenant) => {
    const { status, headers } = await fetch(`${service.url}/api/v1/uploads`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "tus-resumable": "1.0.0", "upload-length": "6" },
    });
    expect(status).toBe(201);
    return new URL(headers.get("location")!, service.url);
  };

  await create(await createTenant(service, { aiTranscription: false }));
  const tenant = await createTenant(service);
  const url = await create(tenant);
  await until(async () => start.mock.calls.length === 1);
  await fetch(url, {
    method: "PATCH",
    headers: {
      authorization: `Bearer ${tenant.key}`,
      "tus-resumable": "1.0.0",
      "upload-offset": "0",
      "content-type": "application/offset+octet-stream",
    },
    body: new Uint8Array(3),
  });
  await until(async () => start.mock.calls.length === 2);
});

test("a service that runs no jobs starts no speech recognition", async () => {
  const service = await startService({ start: false });
  const start = vi.spyOn(service.service.parts.speech, "start").mockResolvedValue();
  const { key } = await createTenant(service);
  // The second response follows any query that the first request started.
  for (let turn = 0; turn < 2; turn++) {
    const { status } = await fetch(`${service.url}/api/v1/uploads`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "tus-resumable": "1.0.0", "upload-length": "6" },
    });
    expect(status).toBe(201);
  }
  expect(start).not.toHaveBeenCalled();
});
