import type { VideoMetadata } from "@subtext/client/contract/video";
import type { ColumnType, Generated, GeneratedAlways, JSONColumnType, Selectable } from "kysely";
import type { BulkOperationKind, BulkOperationState } from "../enums.ts";

export interface VideoTable {
  /** Also the id of the tus upload and the name of the recording's file. */
  id: string;
  environment_id: string;
  metadata: JSONColumnType<VideoMetadata>;
  /** Null until the client declares it. */
  size_bytes: ColumnType<number, number | null, number | null> | null;
  /** Approximate number of received bytes while the upload is running and its length is deferred. */
  received_bytes: Generated<number>;
  created_at: Date;
  /** Null while the upload is running. */
  uploaded_at: ColumnType<Date | null, never, Date>;
  /** The AI Transcription toggle when the upload completed; null until then. */
  ai_transcription: ColumnType<boolean | null, never, boolean>;
  /** When retention deleted the recording; null while it exists. */
  recording_deleted_at: ColumnType<Date | null, never, Date>;
  /** The video whose recording this one is a copy of; it may be deleted. */
  source_video_id: ColumnType<string | null, string | null | undefined, never>;
  /** Set by a trigger, by the database's clock. Updates of only `upload_active_at` do not change it. */
  changed_at: GeneratedAlways<Date>;
  /** When the upload last received bytes, by the database's clock. Up to two minutes behind. */
  upload_active_at: Generated<Date>;
}

export interface BulkOperationTable {
  id: string;
  environment_id: string;
  kind: BulkOperationKind;
  state: BulkOperationState;
  /** Null for a download, which runs in a request. */
  job_id: string | null;
  /** Email of an operator; null for the command line. */
  requested_by: string | null;
  /** Videos that were selected so far. */
  matched: number;
  /** Null when the selection is complete. */
  selection: ColumnType<PendingSelection | null, string | null, string | null>;
  /** Videos of the batches that have ended, by outcome. */
  done: Generated<number>;
  failed: Generated<number>;
  skipped: Generated<number>;
  created_at: Date;
  finished_at: Date | null;
}

/** Which videos are still to be selected for an operation. */
export interface PendingSelection {
  /** A `VideoFilter` as JSON. */
  filter: Record<string, string>;
  /** Id of the last video that was examined; empty at first. */
  after: string;
  /** Id of the environment's last video when the operation was requested. */
  last: string;
}

export interface BulkOperationItemTable {
  operation_id: string;
  video_id: string;
  /** Null until the video is processed. */
  outcome: "done" | "failed" | "skipped" | null;
}

export type BulkOperationRow = Selectable<BulkOperationTable>;
export type VideoRow = Selectable<VideoTable>;
