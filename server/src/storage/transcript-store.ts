import type { Readable } from "node:stream";

/** A URL that gives one file for a short while, and when it ends. */
export interface PresignedUrl {
  url: string;
  expiresAt: Date;
}

export interface PresignOptions {
  /** Media type of the file, without parameters. */
  contentType: string;
  /** What a browser calls the file when it saves it. */
  fileName: string;
  lifetimeSeconds: number;
  now: Date;
}

/**
 * Where transcript files live. Keys are relative, made of `[A-Za-z0-9_.-]` and `/`, and never reused for
 * other content. Every implementation passes the same contract suite.
 */
export interface TranscriptStore {
  /** Writes a whole object; it is either there entirely and durable, or not at all. */
  put(key: string, content: Uint8Array): Promise<void>;
  /** @throws AppError `storage_object_missing` */
  read(key: string): Promise<Readable>;
  /** Returns null if the object does not exist. */
  inspect(key: string): Promise<{ sizeBytes: number } | null>;
  /** Removes one object; one that is not there is no error. */
  remove(key: string): Promise<void>;
  /** Every key that begins with the prefix, in no promised order. */
  list(prefix: string): AsyncIterable<string>;
  presign(key: string, options: PresignOptions): Promise<PresignedUrl>;
  /** Throws where objects can not be written, read and removed. */
  check(): Promise<void>;
}
