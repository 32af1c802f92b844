import type { OpenedFile } from "./disk/local-file.ts";
import type { PresignedUrl, PresignOptions } from "./transcript-store.ts";

/** A recording as a complete local file. */
export interface LocalRecording {
  /** Absolute path. */
  path: string;
  /** Must be called after use. Removes a temporary copy. */
  release(): Promise<void>;
}

/** The uploaded recordings. */
export interface RecordingStore {
  /** @throws AppError `storage_object_missing`, `storage_unavailable` */
  open(videoId: string, signal: AbortSignal): Promise<LocalRecording>;
  /**
   * Opens the recording for range reads, without a local copy.
   * @throws AppError `storage_object_missing`, `storage_unavailable`
   */
  openFile(videoId: string): Promise<OpenedFile>;
  /** Returns a URL at which the storage serves the recording, or null if the service must serve it. */
  presign(videoId: string, options: PresignOptions): Promise<PresignedUrl | null>;
  /** Returns null if the file does not exist. */
  inspect(videoId: string): Promise<{ sizeBytes: number } | null>;
  /** Makes the uploaded bytes durable (fsync). */
  sync(videoId: string): Promise<void>;
  /** Succeeds if the file does not exist. */
  remove(videoId: string): Promise<void>;
  /** Lists the video ids of all complete and partial recordings. */
  list(): AsyncIterable<string>;
}
