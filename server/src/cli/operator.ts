import type { Command } from "commander";
import { ask, type Terminal } from "./context.ts";
import { properties } from "./text.ts";

export function addOperator(program: Command, terminal: Terminal): void {
  const group = program.command("operator").description("the operators: who signs in");

  group
    .command("reset-password")
    .description("make a new password, shown this once; every session ends")
    .option("--email <email>", "of the operator; may be left out where there is one alone")
    .action(async ({ email }: { email?: string }, command: Command) => {
      await ask(
        terminal,
        command,
        (client) => client.send("POST /operator/reset-password", { body: { email } }),
        ({ email, password }) =>
          properties([
            ["email", email],
            ["password", password],
            ["note", "The password is shown this once; only its hash is kept."],
          ]),
      );
    });
}
