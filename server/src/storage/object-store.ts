import type { Readable } from "node:stream";
import type { PresignedUrl, PresignOptions } from "./transcript-store.ts";

/**
 * What Subtext needs of an object storage such as S3. Keys do not include the configured prefix. Every method throws
 * AppError `storage_object_missing`, `storage_object_denied` and `storage_object_unusable` if other objects can be written
 * and read, else `storage_full` or `storage_unavailable`.
 */
export interface ObjectStore {
  /** For messages: the bucket. */
  readonly name: string;
  put(key: string, content: Uint8Array): Promise<void>;
  get(key: string, range?: ByteRequest): Promise<Readable>;
  /** Returns null if the object does not exist. */
  head(key: string): Promise<{ sizeBytes: number; etag: string } | null>;
  /** Does nothing if the object does not exist. */
  remove(key: string): Promise<void>;
  list(prefix: string): AsyncIterable<StoredObject>;
  presign(key: string, options: PresignOptions): Promise<PresignedUrl>;
  readonly multipart: MultipartUploads;
  /** Translates an error from a stream that `get` returned; errors of other origin are returned unchanged. */
  toStorageError(error: unknown): unknown;
  /**
   * Writes and reads a probe object, to tell a fault of one object from an outage.
   * @throws AppError `storage_unavailable`
   */
  assertAvailable(): Promise<void>;
  close(): void;
}

export interface StoredObject {
  key: string;
  sizeBytes: number;
  /** By the clock of the storage. */
  writtenAt: Date;
}

export interface ByteRequest {
  start: number;
  /** Inclusive. */
  end: number;
  /** The object must still have this ETag. */
  etag?: string;
  signal?: AbortSignal;
}

/** Objects that are uploaded in parts and do not exist until they are completed. */
export interface MultipartUploads {
  /** @returns the id of the new multipart upload */
  begin(key: string): Promise<string>;
  /** @param number from 1; a part that has this number already is replaced */
  sendPart(upload: MultipartUpload, number: number, content: Buffer): Promise<UploadedPart>;
  complete(upload: MultipartUpload, parts: readonly UploadedPart[]): Promise<void>;
  /** Aborts all multipart uploads of this key. */
  abort(key: string): Promise<void>;
  /** Multipart uploads of this key, oldest first, so that all processes agree on which one counts. */
  list(key: string): Promise<MultipartUpload[]>;
  /** Multipart uploads of all keys that begin with the prefix. */
  listBelow(prefix: string): Promise<MultipartUpload[]>;
  /** By number. Returns null if the multipart upload no longer exists. */
  listParts(upload: MultipartUpload): Promise<UploadedPart[] | null>;
}

export interface MultipartUpload {
  key: string;
  id: string;
}

export interface UploadedPart {
  /** From 1. */
  number: number;
  etag: string;
  sizeBytes: number;
}

/** Keys of stored objects cannot contain `~`, so a probe is never mistaken for one. */
export const PROBES = "~probes/";
export const PROBE_CONTENT = "subtext";
