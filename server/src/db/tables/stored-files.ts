import type { GeneratedAlways, Selectable } from "kysely";

/** A file that was missing at the last check; see `sweep-missing-files.ts`. */
export interface MissingFileTable {
  video_id: string;
  part: MissingPart;
  noticed_at: Date;
}

export type MissingPart = "recording" | "transcript";

/** Progress of the check for missing files. One row, or none before the first check. */
export interface FileCheckTable {
  only: GeneratedAlways<boolean>;
  /** Id of the last video that was checked; empty at the start of a round. */
  position: string;
  round_ended_at: Date | null;
}

/** A deleted video or transcription. A trigger inserts the row in the deleting transaction. */
export interface TombstoneTable {
  id: string;
  deleted_at: GeneratedAlways<Date>;
}

/** A stored file that belongs to no row and no tombstone; see `sweep-stored-files.ts`. */
export interface UnknownFileTable {
  /** The same on disk and in a bucket: `uploads/…` or `files/…`. */
  key: string;
  store: "recordings" | "transcripts";
  first_seen_at: Date;
  last_seen_at: Date;
  bytes: number;
}

/** The store that contains this database's files, and the database's generation; see `store-ownership.ts`. */
export interface StoreRecordTable {
  only: GeneratedAlways<boolean>;
  store_id: string;
  /** Identity of this database. The store contains the same value. */
  owner: string;
  /** Location of the database when `owner` was assigned. */
  home: string;
  generation: number;
  /** A random token for this generation, because two copies of a database can reach the same number. */
  token: string;
  /** By the database's clock. */
  advanced_at: Date;
}

export type StoreRecordRow = Selectable<StoreRecordTable>;
