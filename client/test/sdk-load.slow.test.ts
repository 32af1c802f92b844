import { expect, test } from "vitest";
import { createTenant, shareService, type Tenant } from "../../server/test/support/service.ts";
import { Subtext } from "../src/client.ts";

/** Higher than the default of 10 per second, so that the tests take less time. */
const service = shareService({ env: { RATE_LIMIT_PER_SECOND: "50" } });
const clientOf = ({ key }: Tenant) => new Subtext({ baseUrl: service.url, apiKey: key });

async function failuresOf(calls: Promise<unknown>[]): Promise<unknown[]> {
  const results = await Promise.allSettled(calls);
  return results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
}

test("300 concurrent uploads by two clients with the same key all succeed", async () => {
  const tenant = await createTenant(service, { aiTranscription: false });
  const clients = [clientOf(tenant), clientOf(tenant)];
  const uploads = Array.from({ length: 150 }, (_, number) =>
    clients.map((subtext) => subtext.videos.upload(new Blob([`file ${number}`]))),
  );
  expect(await failuresOf(uploads.flat())).toEqual([]);
});

test("80 concurrent waits all succeed, and other requests with the same key are not rejected", async () => {
  const tenant = await createTenant(service);
  const subtext = clientOf(tenant);
  const videoIds: string[] = [];
  for (let count = 0; count < 2; count++) {
    videoIds.push((await subtext.videos.upload(new Blob(["no media"]))).videoId);
  }
  const waits = Array.from({ length: 40 }, () => videoIds.map((id) => subtext.transcriptions.wait(id)));
  const ended = failuresOf(waits.flat());
  const statuses = new Set<number>();
  for (let count = 0; count < 25; count++) {
    const headers = { authorization: `Bearer ${tenant.key}` };
    statuses.add((await fetch(`${service.url}/api/v1/videos/${videoIds[0]}`, { headers })).status);
  }
  expect([...statuses]).toEqual([200]);
  expect(await ended).toEqual([]);
});
