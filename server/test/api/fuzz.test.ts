import { expect, test } from "vitest";
import { FUZZ_ENV, fuzz } from "../fuzz/fuzz.ts";
import { shareService } from "../support/service.ts";

const service = shareService({ start: false, env: FUZZ_ENV });

test("no generated request causes a server error or shows data of another environment", async () => {
  const { tap, url } = service;
  const { database, transcripts } = service.service.parts;
  const report = await fuzz({ url, transcripts, db: database.kysely, tap }, { requests: 300, seed: 4 });
  expect(report.requests).toBeGreaterThanOrEqual(300);
  // Requests that are all rejected would prove nothing.
  expect(report.statuses["200"]).toBeGreaterThan(10);
  expect(service.logged()).not.toContain("request failed");
});
