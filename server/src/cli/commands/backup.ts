import { resolve } from "node:path";
import { openProgressBar, progressTerminal } from "@subtext/speech/cli/terminal";
import type { Command } from "commander";
import type { BackupView } from "../../backup/backups.ts";
import { commandLine } from "../../lib/command-line.ts";
import { actAsOwner } from "../act-as-owner.ts";
import { configOf, print, type Terminal, withService } from "../context.ts";
import type { InternalClient } from "../internal-client.ts";
import { counted, properties, time } from "../text.ts";

const POLL_INTERVAL_MS = 200;

const PHASES = { collecting: "Collecting", copying: "Copying", checking: "Checking" };

export function addBackup(program: Command, terminal: Terminal): void {
  program
    .command("backup <folder>")
    .description("back up the embedded database and all files; the service may be running")
    .action(async (folder: string, _options: object, command: Command) => {
      await withService(terminal, async (client) => {
        const stop = () => {
          client.send("DELETE /backup").catch(() => {});
        };
        for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
        try {
          await client.send("POST /backup", { body: { folder: resolve(folder) } });
          const done = await watch(client, terminal);
          print(terminal, command, done.manifest, () => describe(done));
        } finally {
          for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
        }
      });
    });
}

export function addRestore(program: Command, terminal: Terminal): void {
  program
    .command("restore <folder>")
    .description("restore a backup into an empty DATA_DIR")
    .action(async (folder: string, _options: object, command: Command) => {
      const { dataFolder, databaseUrl } = configOf(terminal);
      if (databaseUrl !== null) {
        throw new Error(
          "A backup contains an embedded database: unset DATABASE_URL. For PostgreSQL, see docs/backup.md.",
        );
      }
      await actAsOwner(dataFolder);
      const { restoreBackup } = await import("../../backup/restore.ts");
      const screen = progressTerminal(terminal);
      const bar = screen && openProgressBar("Restore", screen);
      try {
        const manifest = await restoreBackup(resolve(folder), dataFolder, ({ doneBytes, totalBytes }) =>
          bar?.show({ share: totalBytes ? doneBytes / totalBytes : null, text: "Copying and checking" }),
        );
        print(terminal, command, manifest, ({ madeAt }) =>
          properties([
            ["restored to", dataFolder],
            ["created", time(madeAt)],
            [
              "next",
              `Stop the original service for good. Then run ${commandLine("serve")} with the same settings.`,
            ],
          ]),
        );
      } finally {
        bar?.erase();
      }
    });
}

/** @throws Error if the backup fails */
async function watch(client: InternalClient, terminal: Terminal): Promise<BackupView> {
  const screen = progressTerminal(terminal);
  const bar = screen && openProgressBar("Backup", screen);
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
      `${counted(fileCount, "file")}, ${(bytes / 1024 ** 2).toFixed(1)} MiB; all were read back and verified`,
    ],
    ["excludes", files === "bucket" ? "recordings and transcripts, which are in the bucket" : null],
    [
      "missing",
      missingCount === 0
        ? null
        : `files of ${counted(missingCount, "video")}, which were missing before the backup; see ${commandLine("doctor")}`,
    ],
    ["note", "It contains every secret of the service, including signing secrets. Protect it accordingly."],
  ]);
}
