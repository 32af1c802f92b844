import { type Command, Option } from "commander";
import { OPERATOR_ROLES, type OperatorAccess, type OperatorRole } from "../db/enums.ts";
import { AppError } from "../lib/errors.ts";
import { describeAccess } from "../operators/access.ts";
import { ask, type Terminal } from "./context.ts";
import { properties, table, time } from "./text.ts";

export function addOperators(program: Command, terminal: Terminal): void {
  const group = program
    .command("operators")
    .alias("operator")
    .description("operators: people who sign in to the dashboard");

  group
    .command("list")
    .description("every operator, and every invitation that is still valid")
    .action(async (_options: object, command: Command) => {
      await ask(
        terminal,
        command,
        async (client) => ({
          operators: (await client.send("GET /operators")).data,
          invitations: (await client.send("GET /invitations")).data,
        }),
        ({ operators, invitations }) =>
          table(
            ["email", "name", "role", "state"],
            [
              ...operators.map((each) => [each.email, each.name, accessText(each), "active"]),
              ...invitations.map((each) => [
                each.email,
                "",
                accessText(each),
                `invited until ${time(each.expiresAt)}`,
              ]),
            ],
            "There is no operator yet. Start the service and open the link that it prints.",
          ),
      );
    });

  group
    .command("invite <email>")
    .description("create a link with which a person joins; it is shown only once")
    .addOption(
      new Option("--role <role>", "what the person may do").choices(OPERATOR_ROLES).makeOptionMandatory(),
    )
    .action(async (email: string, { role }: { role: OperatorRole }, command: Command) => {
      await ask(
        terminal,
        command,
        (client) => client.send("POST /invitations", { body: { email, role } }),
        (invitation) =>
          properties([
            ["link", invitation.url],
            ["email", invitation.email],
            ["role", accessText(invitation)],
            ["expires", time(invitation.expiresAt)],
          ]),
      );
    });

  group
    .command("remove <email>")
    .description("remove an operator, which ends their sessions, or revoke an invitation")
    .action(async (email: string, _options: object, command: Command) => {
      const hasEmail = (each: { email: string }) => each.email === email.trim().toLowerCase();
      await ask(
        terminal,
        command,
        async (client) => {
          const operator = (await client.send("GET /operators")).data.find(hasEmail);
          const invitation = (await client.send("GET /invitations")).data.find(hasEmail);
          if (operator) await client.send("DELETE /operators/:id", { params: { id: operator.id } });
          else if (invitation)
            await client.send("DELETE /invitations/:id", { params: { id: invitation.id } });
          else throw new AppError("operator_not_found", `There is no operator or invitation for ${email}.`);
          return { email, removed: true };
        },
        () => `${email} was removed.`,
      );
    });

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

/** `viewer`, or `editor in Production, viewer in Staging`. */
function accessText(access: OperatorAccess): string {
  return [describeAccess(access)].flat().join(", ");
}
