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
    /** The data folder after a first start. Tests copy it, because creating a database takes seconds. */
    templateDataFolder: string;
  }
}

/** Creates the folder once per run, unless TEMPLATE_DATA_FOLDER names one that several runs share. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { TEMPLATE_DATA_FOLDER: given } = process.env;
  if (given) {
    project.provide("templateDataFolder", given);
    return async () => {};
  }
  const folder = await mkdtemp(join(tmpdir(), "subtext-made-"));
  const service = await openService({ config: readConfig({ DATA_DIR: folder }), log: createLog("silent") });
  // Tests that copy the folder may use a bucket, so each must claim its own store.
  await deleteStoreRecord(service.parts.database.kysely);
  await service.stop();
  await rm(join(folder, "store.json"));
  project.provide("templateDataFolder", folder);
  return () => rm(folder, { recursive: true, force: true });
}
