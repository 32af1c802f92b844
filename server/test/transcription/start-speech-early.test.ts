import { expect, test, vi } from "vitest";
import { startSpeechEarly } from "../../src/transcription/start-speech-early.ts";
import { createTenant, startService, type Tenant, type TestService, until } from "../support/service.ts";

test("an upload starts speech recognition when it begins and when more of it arrives", async () => {
  const service = await startService({});
  const start = vi.spyOn(service.service.parts.speech, "start").mockResolvedValue();
  const tenant = await createTenant(service);
  const created = await create(service, tenant);
  await until(async () => start.mock.calls.length === 1);
  await fetch(new URL(created.headers.get("location")!, service.url), {
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

test("an upload starts nothing if AI Transcription is off", async () => {
  const service = await startService({ start: false });
  const { database, log } = service.service.parts;
  const start = vi.fn(async () => {});
  const begin = startSpeechEarly({ db: database.kysely, speech: { start }, log });
  begin((await createTenant(service, { aiTranscription: false })).environmentId);
  begin((await createTenant(service)).environmentId);
  await until(async () => start.mock.calls.length > 0);
  expect(start).toHaveBeenCalledTimes(1);
});

test("uploads wait for a start that is in progress, and do not repeat a failed one at once", async () => {
  const service = await startService({ start: false });
  const { database, log } = service.service.parts;
  const started = Promise.withResolvers<void>();
  const start = vi.fn(() => started.promise);
  const begin = startSpeechEarly({ db: database.kysely, speech: { start }, log });
  const { environmentId } = await createTenant(service);
  begin(environmentId);
  await until(async () => start.mock.calls.length === 1);
  const logged = vi.spyOn(log, "info");
  begin(environmentId);
  await database.kysely.selectFrom("environment").select("id").execute();
  started.reject(new Error("no memory"));
  await until(async () => logged.mock.calls.length === 1);
  begin(environmentId);
  await database.kysely.selectFrom("environment").select("id").execute();
  expect(start).toHaveBeenCalledTimes(1);
});

test("a service that runs no jobs starts no speech recognition", async () => {
  const service = await startService({ start: false });
  const start = vi.spyOn(service.service.parts.speech, "start").mockResolvedValue();
  const tenant = await createTenant(service);
  // The second response follows any query that the first request started.
  for (let turn = 0; turn < 2; turn++) await create(service, tenant);
  expect(start).not.toHaveBeenCalled();
});

async function create({ url }: TestService, { key }: Tenant): Promise<Response> {
  const response = await fetch(`${url}/api/v1/uploads`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "tus-resumable": "1.0.0", "upload-length": "6" },
  });
  expect(response.status).toBe(201);
  return response;
}
