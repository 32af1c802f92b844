import type { Permission } from "@subtext/client/contract/permission";
import type { ColumnType, Generated, Insertable, JSONColumnType, Selectable } from "kysely";
import type { RetentionPolicy } from "../enums.ts";

export interface EnvironmentTable {
  id: string;
  name: string;
  ai_transcription: boolean;
  /** Origins of pages that may upload, or `*` for any. */
  allowed_origins: ColumnType<string[], string | undefined, string>;
  /** Names and terms that may be spoken, most important first. */
  vocabulary: ColumnType<string[], string | undefined, string>;
  created_at: Date;
  /** Days to keep a video after its transcription ended, or after its upload if it has none. Null keeps everything. */
  retention_days: Generated<number | null>;
  /** Null if `retention_days` is null. */
  retention_deletes: Generated<RetentionPolicy["deletes"] | null>;
}

export interface ApiKeyTable {
  id: string;
  environment_id: string;
  name: string;
  /** SHA-256 of the whole key, hexadecimal. */
  key_hash: string;
  permissions: JSONColumnType<Permission[]>;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: ColumnType<Date | null, never, Date>;
  revoked_at: ColumnType<Date | null, never, Date>;
}

export type EnvironmentRow = Selectable<EnvironmentTable>;
export type ApiKeyRow = Selectable<ApiKeyTable>;
export type NewApiKey = Insertable<ApiKeyTable>;
