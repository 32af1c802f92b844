import { rm } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { AppError } from "../lib/errors.ts";
import { type BackupDeps, type BackupProgress, makeBackup, STAGING_FOLDER } from "./make-backup.ts";
import type { Manifest } from "./manifest.ts";

export interface BackupView {
  folder: string;
  state: "running" | "done" | "failed";
  progress: BackupProgress;
  /** Set if the state is `done`. */
  manifest: Manifest | null;
  /** Set if the state is `failed`. */
  error: { code: string; message: string } | null;
}

/** Runs backups, one at a time. */
export interface Backups {
  /** @throws AppError `backup_running`, `backup_target_refused` */
  start(folder: string): BackupView;
  /** The latest backup since the service started; null if there was none. */
  latest(): BackupView | null;
  /** Aborts the running backup. Resolves after its files are removed. */
  stop(): Promise<void>;
}

/** Removes leftovers of a crashed backup, so the data folder must be locked. */
export async function openBackups(deps: BackupDeps): Promise<Backups> {
  await rm(join(deps.dataFolder, STAGING_FOLDER), { recursive: true, force: true });
  let latest: BackupView | null = null;
  let stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();

  const run = async (folder: string, signal: AbortSignal) => {
    try {
      const onProgress = (progress: BackupProgress) => {
        if (latest) latest = { ...latest, progress };
      };
      const manifest = await makeBackup(deps, folder, { onProgress, signal });
      if (latest) latest = { ...latest, state: "done", manifest };
      deps.log.info({ folder, files: manifest.fileCount, bytes: manifest.bytes }, "backup created");
    } catch (error) {
      deps.log.error({ err: error, folder }, "the backup failed");
      if (latest) latest = { ...latest, state: "failed", error: describe(error, signal) };
    }
  };

  return {
    start(folder) {
      if (!isAbsolute(folder))
        throw new AppError("backup_target_refused", "Specify the absolute path of the folder.");
      if (latest?.state === "running") {
        throw new AppError("backup_running", `A backup is being written to ${latest.folder}.`);
      }
      stopping = new AbortController();
      latest = {
        folder,
        state: "running",
        progress: { phase: "collecting", doneBytes: 0, totalBytes: null },
        manifest: null,
        error: null,
      };
      running = run(folder, stopping.signal);
      return latest;
    },

    latest: () => latest,

    async stop() {
      stopping.abort();
      await running;
    },
  };
}

function describe(error: unknown, signal: AbortSignal): { code: string; message: string } {
  if (signal.aborted)
    return { code: "backup_stopped", message: "The backup was stopped, and its files were removed." };
  if (error instanceof AppError) return { code: error.code, message: error.message };
  return { code: "internal_error", message: "An internal error occurred. See the log of the service." };
}
