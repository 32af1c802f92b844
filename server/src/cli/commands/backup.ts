import { resolve } from "node:path";
import { openProgressBar } from "@subtext/speech/cli/terminal";
import type { Command } from "commander";
import type { BackupView } from "../../backup/backups.ts";
import { commandLine } from "../../lib/command-line.ts";
import { configOf, type Terminal } from "../context.ts";
import { connect, type InternalClient } from "../internal-client.ts";
import { properties, time } from "../text.ts";

const POLL_INTERVAL_MS = 200;

const PHASES = { collecting: "Collecting", copying: "Copying", checking: "Checking" };

export function addBackup(program: Command, terminal: Terminal): void {
  program
    .command("backup <folder>")
    .description("back up the embedded database and all files; the service may be running")
    .action(async (folder: string, _options: object, command: Command) => {
      const client = await connect(configOf(terminal));
      const stop = () => {
        client.send("DELETE /backup").catch(() => {});
      };
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
      try {
        await client.send("POST /backup", { body: { folder: resolve(folder) } });
        const done = await watch(client, terminal);
        const { json } = command.optsWithGlobals<{ json?: boolean }>();
        terminal.out(json ? `${JSON.stringify(done.manifest, null, 2)}\n` : `${describe(done)}\n`);
      } finally {
        for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
        await client.close();
      }
    });
}

/** @throws Error if the backup fails */
async function watch(client: InternalClient, { err, errColumns }: Terminal): Promise<BackupView> {
  const terminal = { write: err, columns: () => errColumns() ?? 80 };
  const bar = errColumns() === null ? null : openProgressBar("Backup", terminal);
  try {
    for (;;) {
      const { backup } = await client.send("GET /backup");
      if (!backup)
        throw new Error("The service was restarted during the backup and has removed the unfinished files.");
      if (backup.state === "failed") throw new Error(backup.error?.message);
      if (backup.state === "done") return backup;
      const { phase, doneBytes, totalBytes } = backup.progress;
      bar?.show({ share: totalBytes ? doneBytes / totalBytes : null, text: PHASES[phase] });
      await new Promise((next) => setTimeout(next, POLL_INTERVAL_MS));
    }
  } finally {
    bar?.erase();
  }
}

function describe({ folder, manifest }: BackupView): string {
  if (!manifest) return folder;
  const { files, fileCount, bytes, missingCount, madeAt } = manifest;
  return properties([
    ["backup", folder],
    ["created", time(madeAt)],
    [
      "contains",
      `${fileCount.toLocaleString("en")} files, ${(bytes / 1024 ** 2).toFixed(1)} MiB; all were read back and verified`,
    ],
    ["excludes", files === "bucket" ? "recordings and transcripts, which are in the bucket" : null],
    [
      "missing",
      missingCount === 0
        ? null
        : `files of ${missingCount} videos, which were missing before the backup; see ${commandLine("doctor")}`,
    ],
    ["note", "It contains every secret of the service, including signing secrets. Protect it accordingly."],
  ]);
}
