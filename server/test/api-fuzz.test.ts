import { expect, test } from "vitest";
import { FUZZ_ENV, fuzz } from "./fuzz/fuzz.ts";
import { shareService } from "./support/service.ts";

const service = shareService({ start: false, env: FUZZ_ENV });

test("no request that comes from the description brings the service to a fault, nor shows what is another's", async () => {
  const { tap, url } = service;
  const { database, transcripts } = service.service.parts;
  const report = await fuzz({ url, transcripts, db: database.kysely, tap }, { requests: 300, seed: 4 });
  expect(report.requests).toBeGreaterThanOrEqual(300);
  // Of requests that are all refused nothing would be learnt.
  expect(report.statuses["200"]).toBeGreaterThan(10);
  expect(service.logged()).not.toContain("request failed");
});
