import type { Readable } from "node:stream";

export interface PresignedUrl {
  url: string;
  expiresAt: Date;
}

export interface PresignOptions {
  /** Media type without parameters. */
  contentType: string;
  fileName: string;
  lifetimeSeconds: number;
  now: Date;
}

/**
 * Stores transcript files. Keys are relative paths of `[A-Za-z0-9_.-]` and `/`, and are never reused for other content.
 * Methods throw the errors of `RecordingStore`. All implementations pass the same test suite.
 */
export interface TranscriptStore {
  /** Writes an object atomically and durably. */
  put(key: string, content: Uint8Array): Promise<void>;
  /** @throws AppError `storage_object_missing` */
  read(key: string): Promise<Readable>;
  /** Returns null if the object does not exist. */
  inspect(key: string): Promise<{ sizeBytes: number } | null>;
  /**
   * Succeeds if the object does not exist.
   * @throws AppError `storage_deletions_stopped` while this database does not own the store
   */
  remove(key: string): Promise<void>;
  /** Lists the keys that begin with the prefix, in no particular order. */
  list(prefix: string): AsyncIterable<string>;
  presign(key: string, options: PresignOptions): Promise<PresignedUrl>;
  /** Throws if objects cannot be written, read and removed. */
  check(): Promise<void>;
}
