import type { Permission } from "@subtext/client/contract/permission";

/** All times are ISO 8601 UTC with milliseconds. */
export interface ApiKeyView {
  id: string;
  environmentId: string;
  name: string;
  /** The part of the key that is not secret. */
  prefix: string;
  permissions: Permission[];
  createdAt: string;
  expiresAt: string | null;
  /** Accurate to the minute; null if the key was never used. */
  lastUsedAt: string | null;
  revokedAt: string | null;
}

/** Response to creating a key. No other response contains the key itself. */
export type NewApiKeyView = ApiKeyView & { key: string };

/** Newest first. A request without a `state` gets all keys instead, oldest first. */
export interface ApiKeyPageView {
  data: ApiKeyView[];
  nextCursor: string | null;
}
