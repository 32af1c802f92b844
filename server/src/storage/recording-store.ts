import type { OpenedFile } from "./disk/local-file.ts";
import type { PresignedUrl, PresignOptions } from "./transcript-store.ts";

/** A recording as a complete local file. */
export interface LocalRecording {
  path: string;
  /** Call this after use. Removes a temporary copy. */
  release(): Promise<void>;
}

/**
 * Stores recordings, complete or not, by video id. Methods throw AppError: `storage_object_missing`,
 * `storage_object_denied` or `storage_object_unusable` if only one recording is affected, otherwise `storage_full` or
 * `storage_unavailable`.
 */
export interface RecordingStore {
  /** Opens the complete recording. A bucket's recording is downloaded to a temporary file, for which space is needed. */
  open(videoId: string, signal: AbortSignal): Promise<LocalRecording>;
  /** Opens the recording for range reads, without a local copy. */
  openFile(videoId: string): Promise<OpenedFile>;
  /** Returns a URL from which the storage serves the recording, or null if the service must serve it. */
  presign(videoId: string, options: PresignOptions): Promise<PresignedUrl | null>;
  /** Returns null if the file does not exist. */
  inspect(videoId: string): Promise<{ sizeBytes: number } | null>;
  /** Copies a complete recording within the store. Call `sync` afterwards. */
  copy(videoId: string, newVideoId: string): Promise<void>;
  /** Makes the recording durable after all of its bytes have been stored. */
  sync(videoId: string): Promise<void>;
  /**
   * Succeeds if the recording does not exist.
   * @throws AppError `storage_deletions_stopped` while this database does not own the store
   */
  remove(videoId: string): Promise<void>;
  /** Lists the video ids of all recordings, complete or not. */
  list(): AsyncIterable<string>;
}
