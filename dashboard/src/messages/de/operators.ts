import type { operators as english } from "../en/operators.ts";
import { parts } from "../parts.ts";

const ROLES = { viewer: "Betrachter", editor: "Bearbeiter", owner: "Inhaber" };

export const operators: typeof english = {
  title: "Benutzer",
  description: "Inhaber haben vollen Zugriff. Bearbeiter arbeiten mit Videos. Betrachter können nur lesen.",
  people: "Personen",
  roles: ROLES,
  roleIn: (role, environment) => `${ROLES[role]} in ${environment}`,
  invitedAs: (role) => ROLES[role],
  invitedIn: (role, environment) => `${ROLES[role]} in ${environment}`,
  changeRole: "Rolle ändern",
  changeRoleOf: (name) => `Rolle ändern: ${name}`,
  roleOf: (name) => `Rolle von ${name}`,
  remove: "Entfernen",
  removeName: (name) => `${name} entfernen`,
  removeQuestion: (name) => `${name} entfernen?`,
  removed: (name) => `${name} wurde entfernt.`,
  removeEffect: (email) => `${email} wird sofort abgemeldet und kann sich nicht mehr anmelden.`,
  invitations: "Einladungen",
  invitationsHint: "Offene Einladungen laufen nach 7 Tagen ab.",
  invited: (when) => `Eingeladen ${when}`,
  revoke: "Widerrufen",
  revokeOf: (email) => `Einladung von ${email} widerrufen`,
  revoked: "Einladung widerrufen.",
  invite: "Einladen",
  inviteSomeone: "Jemanden einladen",
  sendLink: (email) =>
    parts`Senden Sie diesen Link an ${email}. Er wird nur einmal angezeigt, ist einmal verwendbar und läuft in 7 Tagen ab.`,
  invitationLink: "Einladungslink",
  done: "Fertig",
  createLink: "Einladungslink erstellen",
  environments: "Umgebungen",
  modes: { all: "Alle", some: "Bestimmte" },
  role: "Rolle",
  roleInLabel: (environment) => `Rolle in ${environment}`,
  noAccess: "Kein Zugriff",
  joinTitle: "Subtext beitreten",
  incompleteLink: "Dieser Einladungslink ist unvollständig.",
  joinAs: (roles, email) => parts`Sie wurden als ${roles} eingeladen. Sie melden sich mit ${email} an.`,
  join: "Beitreten",
};
