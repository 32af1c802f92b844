import { resolve } from "node:path";
import { openProgressBar, progressTerminal } from "@subtext/speech/cli/terminal";
import type { Command } from "commander";
import { commandLine } from "../../lib/command-line.ts";
import { actAsOwner } from "../act-as-owner.ts";
import { configOf, print, type Terminal } from "../context.ts";
import { properties, time } from "../text.ts";

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
