import type { OperatorAccess } from "@subtext/server/db/enums";
import { operators as texts } from "../../messages/en/operators.ts";

/** Returns e.g. `Editor` or `Editor in Production, viewer in Staging`. */
export function roleText({ role, environments }: OperatorAccess): string {
  if (role !== null) return texts.roles[role];
  const text = environments.map(({ name, role }) => texts.roleIn(role, name)).join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns e.g. `an editor` or `an editor in Production, a viewer in Staging`. */
export function invitedAs({ role, environments }: OperatorAccess): string {
  if (role !== null) return texts.invitedAs(role);
  return environments.map(({ name, role }) => texts.invitedIn(role, name)).join(", ");
}
