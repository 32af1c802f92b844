import type { Command } from "commander";
import { createLog } from "../../telemetry/log.ts";
import { configOf, type Terminal } from "../context.ts";
import { openServiceFor } from "../open-service.ts";

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
