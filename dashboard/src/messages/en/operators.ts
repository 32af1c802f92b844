import type { ReactNode } from "react";
import { parts } from "../parts.ts";
import { translated } from "../translated.ts";

type Role = "owner" | "editor" | "viewer";

const withArticle = (role: Role) => (role === "viewer" ? "a viewer" : `an ${role}`);

export const operators = translated("operators", {
  title: "Operators",
  description: "Owners have full access. Editors work with videos. Viewers are read-only.",
  people: "People",
  /** In the order of increasing access. */
  roles: { viewer: "Viewer", editor: "Editor", owner: "Owner" },
  /** Part of a list, such as `Editor in Production, viewer in Staging`. */
  roleIn: (role: Role, environment: string) => `${role} in ${environment}`,
  invitedAs: (role: Role) => withArticle(role),
  invitedIn: (role: Role, environment: string) => `${withArticle(role)} in ${environment}`,
  changeRole: "Change role",
  changeRoleOf: (name: string) => `Change role of ${name}`,
  roleOf: (name: string) => `Role of ${name}`,
  roleChanged: (name: string) => `Role of ${name} changed.`,
  remove: "Remove",
  removeName: (name: string) => `Remove ${name}`,
  removeQuestion: (name: string) => `Remove ${name}?`,
  removed: (name: string) => `${name} was removed.`,
  removeEffect: (email: string) => `${email} is signed out immediately and can't sign in again.`,
  invitations: "Invitations",
  invitationsHint: "Pending invitations expire after 7 days.",
  invited: (when: string) => `Invited ${when}`,
  revoke: "Revoke",
  revokeOf: (email: string) => `Revoke invitation for ${email}`,
  revoked: "Invitation revoked.",
  invite: "Invite",
  inviteSomeone: "Invite someone",
  sendLink: (email: ReactNode) =>
    parts`Send this link to ${email}. Single use, shown once, expires in 7 days.`,
  invitationLink: "Invitation link",
  done: "Done",
  createLink: "Create invite link",
  environments: "Environments",
  modes: { all: "All", some: "Some" },
  role: "Role",
  roleInLabel: (environment: string) => `Role in ${environment}`,
  noAccess: "No access",
  joinTitle: "Join Subtext",
  incompleteLink: "This invitation link is incomplete.",
  joinAs: (roles: string, email: ReactNode) =>
    parts`You've been invited as ${roles}. You'll sign in with ${email}.`,
  join: "Join",
});
