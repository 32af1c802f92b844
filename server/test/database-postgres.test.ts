import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { openDatabase } from "../src/db/open.ts";
import { describeDatabase } from "./database-contract.ts";

const databaseUrl = process.env.TEST_DATABASE_URL;
const log = pino({ level: "silent" });

if (databaseUrl) {
  describeDatabase("the database on PostgreSQL", () => openDatabase({ databaseUrl, folder: "", log }));
} else {
  describe("the database on PostgreSQL", () => {
    // A server is not to be had everywhere; CI starts one, and the skip is there to be seen.
    test.skip("is not tested: TEST_DATABASE_URL names no server", () => {});
  });
}

test("a server that is not there is an error, not a wait", async () => {
  const nowhere = "postgres://subtext@127.0.0.1:1/subtext";
  await expect(openDatabase({ databaseUrl: nowhere, folder: "", log })).rejects.toMatchObject({
    code: "service_unavailable",
    message: expect.stringContaining("ECONNREFUSED 127.0.0.1:1"),
  });
});
