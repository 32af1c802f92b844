import type { OpenedFile } from "./disk/local-file.ts";
import type { PresignedUrl, PresignOptions } from "./transcript-store.ts";

/** A source recording as a whole file on this machine. */
export interface LocalSource {
  /** Absolute path. */
  path: string;
  /** Call when done with it; a copy made for the occasion is removed. */
  release(): Promise<void>;
}

/** The uploaded recordings. */
export interface RecordingStore {
  /** @throws AppError `storage_object_missing`, `storage_unavailable` */
  open(videoId: string, signal: AbortSignal): Promise<LocalSource>;
  /**
   * The recording to read parts of, without a copy on this machine.
   * @throws AppError `storage_object_missing`, `storage_unavailable`
   */
  openFile(videoId: string): Promise<OpenedFile>;
  /** A URL at which the storage itself gives the recording; null where it has none to give. */
  presign(videoId: string, options: PresignOptions): Promise<PresignedUrl | null>;
  /** Null where there is no such file. */
  inspect(videoId: string): Promise<{ sizeBytes: number } | null>;
  /** Makes sure that what was uploaded outlives a power cut. */
  sync(videoId: string): Promise<void>;
  /** One that is not there is no error. */
  remove(videoId: string): Promise<void>;
  /** Every recording and part of one that lies there, by the id of its video. */
  list(): AsyncIterable<string>;
}
