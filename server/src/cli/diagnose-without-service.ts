import { randomBytes } from "node:crypto";
import { access } from "node:fs/promises";
import { join } from "node:path";
import type { FindingView } from "../admin/contract/system.ts";
import type { Config } from "../config/config.ts";
import { requireEmbeddedDatabase } from "../db/embedded/data-folder.ts";
import { openDatabase } from "../db/open.ts";
import type { Schema } from "../db/schema.ts";
import { diagnose } from "../health/doctor.ts";
import { systemClock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { nullIfAbsent } from "../lib/files.ts";
import { isOutage } from "../lib/outages.ts";
import { describeDatabase } from "../main.ts";
import { describeEngines, describeMemory, openModels, openSpeech } from "../speech/speech.ts";
import { openObjectStore } from "../storage/backends.ts";
import { openDiskTranscriptStore } from "../storage/disk/disk-transcript-store.ts";
import { openObjectTranscriptStore } from "../storage/object-transcript-store.ts";
import { createLog } from "../telemetry/log.ts";

/** The finding that there is no installation yet. */
export const INSTALLATION = "installation";
/** These checks need the tables of an installation. */
const TABLE_CHECKS = ["workers", "files", "cleanup"];

/**
 * Checks every part of the service separately. Use it if the service cannot be opened.
 * @param reason why the service cannot be opened
 */
export async function diagnoseWithoutService(config: Config, reason: unknown): Promise<FindingView[]> {
  const filesFolder = join(config.dataFolder, "files");
  let lacksFiles = false;
  const log = createLog("silent");
  const models = openModels({ config, db: null, log, clock: systemClock, terminal: null });
  let findings = await diagnose(config, {
    async database() {
      const folder = join(config.dataFolder, "database");
      if (config.databaseUrl === null) await requireEmbeddedDatabase(folder);
      const database = await openDatabase<Schema>({ databaseUrl: config.databaseUrl, folder, log });
      try {
        return await describeDatabase(database);
      } finally {
        await database.close();
      }
    },
    async storage() {
      if (config.bucket !== null) {
        const bucket = await openObjectStore(config.bucket);
        await openObjectTranscriptStore(bucket)
          .check()
          .finally(() => bucket.close());
        return;
      }
      // Opening the store would create its folders, and a check must not create anything.
      lacksFiles = (await access(filesFolder).catch(nullIfAbsent)) === null;
      if (lacksFiles) return;
      const transcripts = await openDiskTranscriptStore({
        folder: filesFolder,
        baseUrl: config.publicUrl,
        secret: randomBytes(32),
      });
      await transcripts.check();
    },
    model: () => models.refresh(),
    workers: async () => null,
    files: async () => null,
    cleanup: async () => null,
    async memory() {
      await models.refresh();
      return await describeMemory(config, models);
    },
    async engine() {
      await models.refresh();
      const speech = openSpeech(config, models, log);
      try {
        return await describeEngines(speech);
      } finally {
        await speech.close();
      }
    },
  });
  if (lacksFiles) {
    const detail = `${filesFolder} does not exist. The first start creates it.`;
    const remedy = "If the service has already run, check DATA_DIR and whether its disk is mounted.";
    const storage: FindingView = { name: "storage", status: "warning", detail, remedy };
    findings = findings.map((finding) => (finding.name === "storage" ? storage : finding));
  }
  if (reason instanceof AppError && reason.code === "installation_missing") {
    const skipped = [...TABLE_CHECKS, ...(config.databaseUrl === null ? ["database"] : [])];
    const rest = findings.filter(({ name }) => !skipped.includes(name));
    const remedy = "Before the first start, this is expected.";
    return [{ name: INSTALLATION, status: "missing", detail: reason.message, remedy }, ...rest];
  }
  const explains = reason instanceof AppError && !isOutage(reason);
  if (!explains && findings.some(({ status }) => status === "missing")) return findings;
  // Unwraps the error, because its message advises running this command.
  const original =
    reason instanceof Error && !(reason instanceof AppError) ? (reason.cause ?? reason) : reason;
  const detail = original instanceof Error ? original.message : String(original);
  return [...findings, { name: "service", status: "missing", detail, remedy: null }];
}
