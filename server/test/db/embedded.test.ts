import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll } from "vitest";
import { openDatabase } from "../../src/db/open.ts";
import { describeDatabase } from "./database-contract.ts";

const log = pino({ level: "silent" });
const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

describeDatabase("the embedded database", async () => {
  const folder = await mkdtemp(join(tmpdir(), "subtext-database-"));
  folders.push(folder);
  return openDatabase({ databaseUrl: null, folder: join(folder, "database"), log });
});
