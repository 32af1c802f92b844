import { type Command, Option } from "commander";
import { OPERATOR_ROLES, type OperatorAccess, type OperatorRole } from "../../db/enums.ts";
import { AppError } from "../../lib/errors.ts";
import { type AccessRequest, describeAccess } from "../../operators/access.ts";
import { findByIdOrName } from "../arguments.ts";
import { runOnService, type Terminal } from "../context.ts";
import { properties, table, time } from "../text.ts";

const NO_ROLE = "none";

interface RoleOptions {
  role: OperatorRole;
  env?: string[];
}

interface ChangeOptions {
  role: OperatorRole | typeof NO_ROLE;
  env?: string[];
}

export function addOperators(program: Command, terminal: Terminal): void {
  const group = program
    .command("operators")
    .alias("operator")
    .description("manage operators, who sign in to the dashboard");

  runOnService(
    group.command("list").description("list operators and valid invitations"),
    terminal,
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
        "There are no operators yet. Start the service and open the link that it prints.",
      ),
  );

  runOnService(
    group
      .command("invite <email>")
      .description("create an invitation link, which is shown only once")
      .addOption(
        new Option("--role <role>", "what the person may do").choices(OPERATOR_ROLES).makeOptionMandatory(),
      )
      .option("--env <environment...>", "only in these environments, each by its id or name"),
    terminal,
    (client, email: string, { role, env }: RoleOptions) => {
      const access = env ? { environments: env.map((each) => ({ environment: each, role })) } : { role };
      return client.send("POST /invitations", { body: { email, ...access } });
    },
    (invitation) =>
      properties([
        ["link", invitation.url],
        ["email", invitation.email],
        ["role", accessText(invitation)],
        ["expires", time(invitation.expiresAt)],
      ]),
  );

  runOnService(
    group
      .command("change-role <email>")
      .description("change what an operator may do, in all environments or in some; takes effect immediately")
      .addOption(
        new Option("--role <role>", "the new role; `none` removes the role in the given environments")
          .choices([...OPERATOR_ROLES, NO_ROLE])
          .makeOptionMandatory(),
      )
      .option(
        "--env <environment...>",
        "only in these environments, each by its id or name; roles in other environments do not change",
      ),
    terminal,
    async (client, email: string, options: ChangeOptions) => {
      const operator = (await client.send("GET /operators")).data.find(hasEmail(email));
      if (!operator) throw new AppError("operator_not_found", `There is no operator ${email}.`);
      const { data: environments } = await client.send("GET /environments");
      const body = changedAccess(operator, options, environments);
      return await client.send("PATCH /operators/:id", { params: { id: operator.id }, body });
    },
    (operator) =>
      properties([
        ["email", operator.email],
        ["role", accessText(operator)],
      ]),
  );

  runOnService(
    group
      .command("remove <email>")
      .description("remove an operator and end their sessions, or revoke an invitation"),
    terminal,
    async (client, email: string) => {
      const operator = (await client.send("GET /operators")).data.find(hasEmail(email));
      const invitation = (await client.send("GET /invitations")).data.find(hasEmail(email));
      if (operator) await client.send("DELETE /operators/:id", { params: { id: operator.id } });
      else if (invitation) await client.send("DELETE /invitations/:id", { params: { id: invitation.id } });
      else throw new AppError("operator_not_found", `There is no operator or invitation for ${email}.`);
      return { email, removed: true };
    },
    ({ email }) => `${email} was removed.`,
  );

  runOnService(
    group
      .command("reset-password")
      .description("set a new password, which is shown only once, and end all sessions")
      .option("--email <email>", "the operator's email; optional if there is only one operator"),
    terminal,
    (client, { email }: { email?: string }) =>
      client.send("POST /operator/reset-password", { body: { email } }),
    ({ email, password }) =>
      properties([
        ["email", email],
        ["password", password],
        ["note", "The password is shown only once; only its hash is stored."],
      ]),
  );
}

function hasEmail(email: string): (each: { email: string }) => boolean {
  return (each) => each.email === email.trim().toLowerCase();
}

/**
 * Returns the operator's access after the change. With `--env`, roles in individual environments replace a role in all
 * environments.
 * @throws AppError `invalid_request`, `environment_not_found`
 */
function changedAccess(
  operator: OperatorAccess,
  { role, env: named }: ChangeOptions,
  environments: readonly { id: string; name: string }[],
): AccessRequest {
  if (!named) {
    if (role !== NO_ROLE) return { role };
    throw new AppError("invalid_request", "Specify the environments with --env, or remove the operator.");
  }
  const roles = new Map(operator.environments.map((each) => [each.id, each.role]));
  for (const idOrName of named) {
    const environment = findByIdOrName(environments, idOrName);
    if (!environment) {
      throw new AppError("environment_not_found", `There is no environment ${idOrName}.`);
    }
    if (role === NO_ROLE) roles.delete(environment.id);
    else roles.set(environment.id, role);
  }
  if (roles.size === 0) {
    throw new AppError(
      "invalid_request",
      "The operator would have no role left. Remove the operator instead.",
    );
  }
  return { environments: [...roles].map(([environment, role]) => ({ environment, role })) };
}

/** Formats access as `viewer`, or as `editor in Production, viewer in Staging`. */
function accessText(access: OperatorAccess): string {
  return [describeAccess(access)].flat().join(", ");
}
