import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { readConfig } from "../../src/config/config.ts";
import { openService } from "../../src/main.ts";
import { deleteStoreRecord } from "../../src/storage/ownership/queries.ts";
import { createLog } from "../../src/telemetry/log.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A data folder as a first start leaves it. Copy it, because creating one takes seconds. */
    madeDataFolder: string;
  }
}

/** Created once for all test files of a run, or of several runs that share an existing one. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { MADE_DATA_FOLDER: given } = process.env;
  if (given) {
    project.provide("madeDataFolder", given);
    return async () => {};
  }
  const folder = await mkdtemp(join(tmpdir(), "subtext-made-"));
  const service = await openService({ config: readConfig({ DATA_DIR: folder }), log: createLog("silent") });
  // Tests that copy it may store their files in a bucket: each claims its own store.
  await deleteStoreRecord(service.parts.database.kysely);
  await service.stop();
  await rm(join(folder, "store.json"));
  project.provide("madeDataFolder", folder);
  return () => rm(folder, { recursive: true, force: true });
}
