import type { Command } from "commander";
import { ask, type Terminal } from "./context.ts";
import { properties } from "./text.ts";

export function addOperator(program: Command, terminal: Terminal): void {
  const group = program.command("operator").description("the operators: who signs in");

  group
    .command("reset-password")
    .description("set a new password, shown only once; ends every session")
    .option("--email <email>", "the operator's email; optional if there is only one operator")
    .action(async ({ email }: { email?: string }, command: Command) => {
      await ask(
        terminal,
        command,
        (client) => client.send("POST /operator/reset-password", { body: { email } }),
        ({ email, password }) =>
          properties([
            ["email", email],
            ["password", password],
            ["note", "The password is shown only once; only its hash is stored."],
          ]),
      );
    });
}
