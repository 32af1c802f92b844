import type { EnvironmentRole, OperatorAccess, OperatorRole } from "../db/enums.ts";
import type { Db } from "../db/schema.ts";
import { getEnvironment } from "../environments/environments.ts";
import { AppError } from "../lib/errors.ts";

/** Either `role`, for all environments, or `environments` is set. */
export interface AccessRequest {
  role?: OperatorRole;
  /** `environment` is an id or a name. */
  environments?: { environment: string; role: OperatorRole }[];
}

/** @throws AppError `invalid_request`, `environment_not_found` */
export async function resolveAccess(
  db: Db,
  { role, environments: requested }: AccessRequest,
): Promise<OperatorAccess> {
  if ((role === undefined) === (requested === undefined)) {
    throw new AppError(
      "invalid_request",
      "Specify either one role for all environments or a role for each environment.",
    );
  }
  const environments: EnvironmentRole[] = [];
  for (const { environment, role } of requested ?? []) {
    const { id, name } = await getEnvironment(db, environment);
    if (environments.some((each) => each.id === id)) {
      throw new AppError("invalid_request", `The environment ${name} is specified twice.`);
    }
    environments.push({ id, name, role });
  }
  return { role: role ?? null, environments };
}

/** Returns the audit log's form: `viewer`, or `["viewer in Production", "editor in Staging"]`. */
export function describeAccess({ role, environments }: OperatorAccess): OperatorRole | string[] {
  return role ?? environments.map(({ name, role }) => `${role} in ${name}`);
}
