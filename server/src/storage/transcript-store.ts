import type { Readable } from "node:stream";

/** A temporary URL of one file, and its expiry. */
export interface PresignedUrl {
  url: string;
  expiresAt: Date;
}

export interface PresignOptions {
  /** Media type of the file, without parameters. */
  contentType: string;
  /** The suggested file name for downloads. */
  fileName: string;
  lifetimeSeconds: number;
  now: Date;
}

/**
 * Where transcript files are stored. Keys are relative, consist of `[A-Za-z0-9_.-]` and `/`, and are never reused for
 * other content. Every implementation passes the same contract suite.
 */
export interface TranscriptStore {
  /** Writes a whole object atomically and durably. */
  put(key: string, content: Uint8Array): Promise<void>;
  /** @throws AppError `storage_object_missing` */
  read(key: string): Promise<Readable>;
  /** Returns null if the object does not exist. */
  inspect(key: string): Promise<{ sizeBytes: number } | null>;
  /** Removes one object. Succeeds if it does not exist. */
  remove(key: string): Promise<void>;
  /** Lists every key that begins with the prefix, in no particular order. */
  list(prefix: string): AsyncIterable<string>;
  presign(key: string, options: PresignOptions): Promise<PresignedUrl>;
  /** Throws if objects cannot be written, read and removed. */
  check(): Promise<void>;
}
