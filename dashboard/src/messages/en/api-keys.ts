import { PERMISSION_TEXTS, PERMISSIONS, type Permission } from "@subtext/client/contract/permission";
import type { ReactNode } from "react";
import { parts } from "../parts.ts";
import { translated } from "../translated.ts";

export const apiKeys = translated("apiKeys", {
  title: "API keys",
  description: (environment: string, docs: (label: string) => ReactNode) =>
    parts`Keys give access to ${environment} only. ${docs("API docs")}`,
  /** The texts of the API's contract. */
  permissions: Object.fromEntries(
    PERMISSIONS.map((permission) => {
      const { name, hint } = PERMISSION_TEXTS[permission];
      return [permission, { name, hint }];
    }),
  ) as Record<Permission, { name: string; hint: string }>,
  noneYet: "No API keys yet",
  purpose: "Create a key to upload videos and read transcriptions with the API.",
  askOwner: "Ask an owner to create one.",
  ownersOnly: "Only owners can create or revoke keys.",
  active: "Active keys",
  inactive: "Revoked and expired keys",
  inactiveHint: "These keys no longer work.",
  key: "Key",
  permissionsLabel: "Permissions",
  created: "Created",
  expires: "Expires",
  lastUsed: "Last used",
  never: "Never",
  revoke: "Revoke",
  revokeName: (name: string) => `Revoke ${name}`,
  revokeQuestion: (name: string) => `Revoke ${name}?`,
  revokeEffect: "Requests using this key will fail immediately. This can't be undone.",
  wasLastUsed: (when: string) => `It was last used ${when}.`,
  revokedWhen: (when: string) => `Revoked ${when}`,
  expiredWhen: (when: string) => `Expired ${when}`,
  newKey: "New key",
  newApiKey: "New API key",
  keyCreated: "API key created",
  nameHint: "e.g. the app that will use it",
  namePlaceholder: "Website backend",
  expiries: {
    never: "Never",
    month: "In 30 days",
    quarter: "In 90 days",
    year: "In 365 days",
    date: "Custom date",
  },
  lastDay: "Last day",
  lastDayHint: "The key works until the end of this day in your time zone.",
  create: "Create key",
  copyNow: "Copy this key now. You won't be able to see it again.",
  apiKey: "API key",
  tryIt: "Try it in a terminal",
  savedQuestion: "Have you saved this key?",
  back: "Back",
  saved: "I've saved this key",
  done: "Done",
});
