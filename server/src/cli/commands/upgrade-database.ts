import { join } from "node:path";
import type { Command } from "commander";
import { requireEmbeddedDatabase } from "../../db/embedded/data-folder.ts";
import { actAsOwner } from "../act-as-owner.ts";
import { configOf, type Terminal } from "../context.ts";
import { properties } from "../text.ts";

export function addUpgradeDatabase(program: Command, terminal: Terminal): void {
  program
    .command("upgrade-database")
    .description("upgrade the embedded database from an older PostgreSQL version; the old folder is kept")
    .action(async (_options: object, command: Command) => {
      const { dataFolder, databaseUrl } = configOf(terminal);
      if (databaseUrl !== null) {
        throw new Error("DATABASE_URL is set. Upgrade a PostgreSQL server with its own pg_upgrade.");
      }
      await actAsOwner(dataFolder);
      await requireEmbeddedDatabase(join(dataFolder, "database"));
      const { upgradeFolder } = await import("../../db/embedded/upgrade-folder.ts");
      const carried = await upgradeFolder(join(dataFolder, "database"), { onLog: () => {} });
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      if (json) terminal.out(`${JSON.stringify(carried, null, 2)}\n`);
      else if (carried === null) terminal.out("The database already has the current PostgreSQL version.\n");
      else {
        const { fromMajor, toMajor, rows, oldFolder } = carried;
        const facts = properties([
          ["PostgreSQL", `${fromMajor} → ${toMajor}`],
          ["rows", String(rows)],
          ["old folder", `${oldFolder}; remove it when you are sure that the service works`],
        ]);
        terminal.out(`${facts}\n`);
      }
    });
}
