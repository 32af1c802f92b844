import type { OperatorAccess, OperatorRole } from "@subtext/server/db/enums";

/** In the order of increasing access. */
export const ROLE_NAMES: Record<OperatorRole, string> = {
  viewer: "Viewer",
  editor: "Editor",
  owner: "Owner",
};

/** Returns e.g. `Editor` or `Editor in Production, viewer in Staging`. */
export function roleText({ role, environments }: OperatorAccess): string {
  if (role !== null) return ROLE_NAMES[role];
  const text = environments.map(({ name, role }) => `${role} in ${name}`).join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns e.g. `an editor` or `an editor in Production, a viewer in Staging`. */
export function invitedAs({ role, environments }: OperatorAccess): string {
  const withArticle = (role: OperatorRole) => (role === "viewer" ? "a viewer" : `an ${role}`);
  if (role !== null) return withArticle(role);
  return environments.map(({ name, role }) => `${withArticle(role)} in ${name}`).join(", ");
}
