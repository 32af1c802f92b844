import type { Readable } from "node:stream";
import type { PresignedUrl, PresignOptions } from "./transcript-store.ts";

/**
 * An object store such as S3. Keys do not include the configured prefix. Methods throw AppError:
 * `storage_object_missing`, `storage_object_denied` or `storage_object_unusable` if only one object is affected,
 * otherwise `storage_full` or `storage_unavailable`.
 */
export interface ObjectStore {
  /** Name of the bucket, and the setting that contains it, for messages. */
  readonly name: string;
  readonly setting: string;
  put(key: string, content: Uint8Array): Promise<void>;
  get(key: string, range?: ByteRequest): Promise<Readable>;
  /** Returns null if the object does not exist. */
  head(key: string): Promise<{ sizeBytes: number; etag: string } | null>;
  /** Does nothing if the object does not exist. */
  remove(key: string): Promise<void>;
  /** Copies an object of at most 5 GB within the bucket. */
  copy(from: string, to: string): Promise<void>;
  list(prefix: string): AsyncIterable<StoredObject>;
  presign(key: string, options: PresignOptions): Promise<PresignedUrl>;
  readonly multipart: MultipartUploads;
  /** Converts an error from a stream that `get` returned. Returns other errors unchanged. */
  toStorageError(error: unknown): unknown;
  /**
   * Writes and reads a probe object, to distinguish the failure of one object from an outage.
   * @throws AppError `storage_unavailable`
   */
  assertAvailable(): Promise<void>;
  close(): void;
}

export interface StoredObject {
  key: string;
  sizeBytes: number;
  etag: string;
  /** By the storage's clock. */
  writtenAt: Date;
}

export interface ByteRequest {
  start: number;
  /** Inclusive. */
  end: number;
  /** The ETag that the object must have. */
  etag?: string;
  signal?: AbortSignal;
}

/** Maximum number of parts of an upload, as in S3. */
export const MAX_PARTS = 10_000;

/** Uploads objects in parts. An object does not exist until its upload is completed. */
export interface MultipartUploads {
  /** @returns the id of the new multipart upload */
  begin(key: string): Promise<string>;
  /** @param number starts at 1; replaces an existing part with this number */
  sendPart(upload: MultipartUpload, number: number, content: Buffer): Promise<UploadedPart>;
  /** Copies a range of another object as a part. `end` is inclusive. */
  copyPart(
    upload: MultipartUpload,
    number: number,
    source: { from: string; start: number; end: number },
  ): Promise<void>;
  complete(upload: MultipartUpload, parts: readonly UploadedPart[]): Promise<void>;
  /** Aborts all multipart uploads of the key. */
  abort(key: string): Promise<void>;
  /** Lists the multipart uploads of the key, oldest first, so that all processes choose the same one. */
  list(key: string): Promise<MultipartUpload[]>;
  /** Lists the multipart uploads of keys that begin with the prefix. */
  listBelow(prefix: string): Promise<MultipartUpload[]>;
  /** Lists the parts in order. Returns null if the multipart upload no longer exists. */
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

/** Other keys cannot contain `~`, so a probe is never mistaken for a stored file. */
export const PROBES_PREFIX = "~probes/";
export const PROBE_CONTENT = "subtext";
