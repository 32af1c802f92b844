import type { Permission } from "@subtext/client/contract/permission";

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
