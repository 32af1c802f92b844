import { join } from "node:path";
import type { Command } from "commander";
import { requireEmbeddedDatabase } from "../../db/embedded/data-folder.ts";
import { createLog } from "../../telemetry/log.ts";
import { actAsOwner } from "../act-as-owner.ts";
import { configOf, print, type Terminal } from "../context.ts";
import { openServiceFor } from "../open-service.ts";
import { properties } from "../text.ts";

export function addMigrate(program: Command, terminal: Terminal): void {
  program
    .command("migrate")
    .description(
      "update the tables of an installation and exit; every start does this too, but a separate job can run it before a rollout",
    )
    .action(async () => {
      const config = configOf(terminal);
      // Opening the service migrates the tables. It also checks the bucket, so that wrong settings stop a rollout
      // early.
      const { parts, stop } = await openServiceFor({
        config,
        log: createLog(config.logLevel),
        purpose: "migrate",
      });
      const { kind, version } = parts.database;
      await stop();
      const name = kind === "postgres" ? "PostgreSQL" : "the embedded PostgreSQL";
      terminal.out(`The tables of ${name} ${version} are up to date.\n`);
    });
}

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
      const upgrade = await upgradeFolder(join(dataFolder, "database"), { onLog: () => {} });
      print(terminal, command, upgrade, (result) => {
        if (result === null) return "The database already has the current PostgreSQL version.";
        return properties([
          ["PostgreSQL", `${result.fromMajor} → ${result.toMajor}`],
          ["rows", String(result.rows)],
          ["old folder", `${result.oldFolder}; remove it when you are sure that the service works`],
        ]);
      });
    });
}
