import { resolve } from "node:path";
import { openProgressBar } from "@subtext/speech/cli/terminal";
import type { Command } from "commander";
import { commandLine } from "../../lib/command-line.ts";
import { actAsOwner } from "../act-as-owner.ts";
import { configOf, type Terminal } from "../context.ts";
import { properties, time } from "../text.ts";

export function addRestore(program: Command, terminal: Terminal): void {
  program
    .command("restore <folder>")
    .description("restore a backup into an empty DATA_DIR")
    .action(async (folder: string, _options: object, command: Command) => {
      const { out, err, errColumns } = terminal;
      const { dataFolder, databaseUrl } = configOf(terminal);
      if (databaseUrl !== null) {
        throw new Error(
          "A backup contains an embedded database: unset DATABASE_URL. For PostgreSQL, see docs/backup.md.",
        );
      }
      await actAsOwner(dataFolder);
      const { restoreBackup } = await import("../../backup/restore.ts");
      const bar =
        errColumns() === null
          ? null
          : openProgressBar("Restore", { write: err, columns: () => errColumns() ?? 80 });
      try {
        const manifest = await restoreBackup(resolve(folder), dataFolder, ({ doneBytes, totalBytes }) =>
          bar?.show({ share: totalBytes ? doneBytes / totalBytes : null, text: "Copying and checking" }),
        );
        const { json } = command.optsWithGlobals<{ json?: boolean }>();
        const facts = properties([
          ["restored to", dataFolder],
          ["created", time(manifest.madeAt)],
          [
            "next",
            `Stop the original service for good. Then run ${commandLine("serve")} with the same settings.`,
          ],
        ]);
        out(json ? `${JSON.stringify(manifest, null, 2)}\n` : `${facts}\n`);
      } finally {
        bar?.erase();
      }
    });
}
