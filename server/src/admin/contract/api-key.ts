import type { Permission } from "@subtext/client/contract/permission";

/** A key that is `valid` opens something; one that has `ended` was revoked or is past its time. */
export const API_KEY_STATES = ["valid", "ended"] as const;
export type ApiKeyState = (typeof API_KEY_STATES)[number];

/** All times are ISO 8601 UTC with milliseconds. */
export interface ApiKeyView {
  id: string;
  environmentId: string;
  name: string;
  /** What the key begins with, by which its owner knows it; no secret. */
  prefix: string;
  permissions: Permission[];
  createdAt: string;
  expiresAt: string | null;
  /** To within a minute; null where it was never used. */
  lastUsedAt: string | null;
  revokedAt: string | null;
}

/** The answer to its making, the only one that holds the key itself. */
export type NewApiKeyView = ApiKeyView & { key: string };

/** Newest first. */
export interface ApiKeyPageView {
  data: ApiKeyView[];
  /** For the next page; null on the last. */
  nextCursor: string | null;
}
