import type { OpenedFile } from "./disk/local-file.ts";
import type { PresignedUrl, PresignOptions } from "./transcript-store.ts";

/** A recording as a complete local file. */
export interface LocalRecording {
  path: string;
  /** Call this after use. Removes a temporary copy. */
  release(): Promise<void>;
}

export interface RecordingStore {
  /** @throws AppError `storage_object_missing`, `storage_unavailable` */
  open(videoId: string, signal: AbortSignal): Promise<LocalRecording>;
  /**
   * Opens the recording for range reads, without a local copy.
   * @throws AppError `storage_object_missing`, `storage_unavailable`
   */
  openFile(videoId: string): Promise<OpenedFile>;
  /** Returns a URL from which the storage serves the recording, or null if the service must serve it. */
  presign(videoId: string, options: PresignOptions): Promise<PresignedUrl | null>;
  /** Returns null if the file does not exist. */
  inspect(videoId: string): Promise<{ sizeBytes: number } | null>;
  /**
   * Copies a complete recording within the store. Call `sync` afterwards.
   * @throws AppError `storage_object_missing`, `storage_full`, `storage_unavailable`
   */
  copy(videoId: string, newVideoId: string): Promise<void>;
  /** Makes the uploaded bytes durable. */
  sync(videoId: string): Promise<void>;
  /** Succeeds if the recording does not exist. */
  remove(videoId: string): Promise<void>;
  /** Lists the video ids of all recordings, complete or not. */
  list(): AsyncIterable<string>;
}
