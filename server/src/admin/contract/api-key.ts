import type { Permission } from "@subtext/client/contract/permission";

/** All times are ISO 8601 UTC with milliseconds. */
export interface ApiKeyView {
  id: string;
  environmentId: string;
  name: string;
  /** The visible prefix of the key, which is not secret. */
  prefix: string;
  permissions: Permission[];
  createdAt: string;
  expiresAt: string | null;
  /** Accurate to the minute; null if the key was never used. */
  lastUsedAt: string | null;
  revokedAt: string | null;
}

/** The response to creating a key: the only response that contains the key itself. */
export type NewApiKeyView = ApiKeyView & { key: string };

/** Newest first. */
export interface ApiKeyPageView {
  data: ApiKeyView[];
  /** Cursor of the next page; null on the last. */
  nextCursor: string | null;
}
