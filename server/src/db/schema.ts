import type { Permission } from "@subtext/client/contract/permission";
import type { FileFormat, TranscriptionStatus } from "@subtext/client/contract/transcription";
import type { VideoMetadata } from "@subtext/client/contract/video";
import type { EventType, SentEventType } from "@subtext/client/contract/webhook";
import type { DeliveryStatus } from "@subtext/client/contract/webhook-endpoint";
import type { LanguageSegment, StageSeconds } from "@subtext/speech/transcript";
import type {
  ColumnType,
  Generated,
  GeneratedAlways,
  Insertable,
  JSONColumnType,
  Kysely,
  Selectable,
  Transaction,
} from "kysely";
import type {
  ActorKind,
  AttemptOutcome,
  AuditAction,
  AuditDetail,
  BulkOperationKind,
  BulkOperationState,
  EnvironmentRole,
  OperatorRole,
  RetentionPolicy,
} from "./enums.ts";

export interface Schema {
  environment: EnvironmentTable;
  api_key: ApiKeyTable;
  video: VideoTable;
  transcription: TranscriptionTable;
  transcription_attempt: TranscriptionAttemptTable;
  transcription_checkpoint: TranscriptionCheckpointTable;
  transcript_revision: TranscriptRevisionTable;
  transcript_update: TranscriptUpdateTable;
  event: EventTable;
  webhook_endpoint: WebhookEndpointTable;
  delivery: DeliveryTable;
  delivery_attempt: DeliveryAttemptTable;
  idempotency_key: IdempotencyKeyTable;
  service_secret: ServiceSecretTable;
  operator: OperatorTable;
  operator_account: OperatorAccountTable;
  operator_session: OperatorSessionTable;
  operator_invitation: OperatorInvitationTable;
  operator_membership: OperatorMembershipTable;
  search_language: SearchLanguageTable;
  search_shard: SearchShardTable;
  search_document: SearchDocumentTable;
  search_passage: SearchPassageTable;
  missing_file: MissingFileTable;
  file_check: FileCheckTable;
  audit_event: AuditEventTable;
  tombstone: TombstoneTable;
  unknown_file: UnknownFileTable;
  store_record: StoreRecordTable;
  environment_queue: EnvironmentQueueTable;
  queue_clock: QueueClockTable;
  engine_choice: EngineChoiceTable;
  bulk_operation: BulkOperationTable;
  bulk_operation_item: BulkOperationItemTable;
}

/** The open database, outside any transaction. */
export type Db = Kysely<Schema>;
/** A running transaction. Functions that take one must use it for every query. */
export type Tx = Transaction<Schema>;

interface EnvironmentTable {
  id: string;
  name: string;
  ai_transcription: boolean;
  /** Origins of pages that may upload, or `*` for any. */
  allowed_origins: ColumnType<string[], string | undefined, string>;
  /** Names and terms that may be spoken, most important first. */
  vocabulary: ColumnType<string[], string | undefined, string>;
  created_at: Date;
  /** Days since the transcription ended, or since the upload of a video without one. Null keeps everything. */
  retention_days: Generated<number | null>;
  /** Null if `retention_days` is null. */
  retention_deletes: Generated<RetentionPolicy["deletes"] | null>;
}

interface ApiKeyTable {
  id: string;
  environment_id: string;
  name: string;
  /** SHA-256 of the whole key, hexadecimal. */
  key_hash: string;
  permissions: JSONColumnType<Permission[]>;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: ColumnType<Date | null, never, Date>;
  revoked_at: ColumnType<Date | null, never, Date>;
}

interface VideoTable {
  /** Also the id of the tus upload and the name of the recording's file. */
  id: string;
  environment_id: string;
  metadata: JSONColumnType<VideoMetadata>;
  /** Null until the client declares it. */
  size_bytes: ColumnType<number, number | null, number | null> | null;
  created_at: Date;
  /** Null while the upload is running. */
  uploaded_at: ColumnType<Date | null, never, Date>;
  /** The AI Transcription toggle when the upload completed; null until then. */
  ai_transcription: ColumnType<boolean | null, never, boolean>;
  /** When retention deleted the recording; null while it exists. */
  recording_deleted_at: ColumnType<Date | null, never, Date>;
  /** Set by a trigger, by the database's clock. Updates of only `upload_active_at` do not change it. */
  changed_at: GeneratedAlways<Date>;
  /** When the upload last received bytes, by the database's clock. Up to two minutes behind. */
  upload_active_at: Generated<Date>;
}

interface TranscriptionTable {
  id: string;
  video_id: string;
  environment_id: string;
  status: TranscriptionStatus;
  /** The only job that may process it. */
  job_id: string;
  /** Number of attempts that have started. Writes use it as a fencing token. */
  attempt: Generated<number>;
  /** Retryable failures. Reset by reprocessing, and by progress beyond all earlier checkpoints. */
  failure_count: Generated<number>;
  /** Worker crashes, reset like `failure_count`. */
  crash_count: Generated<number>;
  language: string | null;
  word_count: number | null;
  duration: number | null;
  /** From 0 to 1. */
  progress: Generated<number>;
  /** Null if unknown. */
  remaining_seconds: number | null;
  /** Storage key prefix of the recognized original's files; null until COMPLETED. See `currentPrefix`. */
  file_prefix: string | null;
  /** Storage key prefix of the current revision's files; null if nobody has changed the transcript. */
  edited_prefix: ColumnType<string | null, never, string>;
  /** Number of the current revision; 0 is the recognized original. */
  revision: Generated<number>;
  /** Number of saves. */
  edit_version: Generated<number>;
  /** The formats of the stored files. */
  file_formats: ColumnType<FileFormat[], string | undefined, string>;
  failure_code: string | null;
  failure_message: string | null;
  skip_reason: string | null;
  engine: string | null;
  decoder: string | null;
  /** Number of the transcribed audio track, from 1. Null for the default or only track. */
  audio_track: ColumnType<number | null, never, number | null>;
  /** Whether damaged parts of the recording are missing from the transcript. */
  incomplete: Generated<boolean>;
  stages: JSONColumnType<StageSeconds | null>;
  /** Engine and model of each language segment; null until COMPLETED. */
  language_segments: ColumnType<LanguageSegment[] | null, string | undefined, string>;
  /** Storage key prefix of the waveform, which can exist without transcript files. */
  waveform_prefix: ColumnType<string | null, never, string | null>;
  created_at: Date;
  /** When it last became PENDING. */
  queued_at: Date;
  /** Earliest start of the next attempt, by the database's clock; null if it may start immediately. */
  due_at: ColumnType<Date | null, Date | undefined, Date | null>;
  started_at: Date | null;
  finished_at: Date | null;
  /** Like the video's `changed_at`. */
  changed_at: GeneratedAlways<Date>;
}

/** An attempt at a transcription. Reprocessing keeps the rows of earlier attempts. */
interface TranscriptionAttemptTable {
  transcription_id: string;
  /** The transcription's `attempt` at that time. */
  number: number;
  queued_at: Date;
  started_at: Date;
  decoded_at: ColumnType<Date | null, never, Date>;
  transcribed_at: ColumnType<Date | null, never, Date | null>;
  /** Null while the attempt runs, like `outcome`. */
  ended_at: ColumnType<Date | null, never, Date>;
  outcome: ColumnType<AttemptOutcome | null, never, AttemptOutcome>;
  failure_code: ColumnType<string | null, never, string | null>;
  failure_message: ColumnType<string | null, never, string | null>;
  retry_at: ColumnType<Date | null, never, Date | null>;
}

/** A transcript that nobody has changed has no rows. */
interface TranscriptRevisionTable {
  transcription_id: string;
  /** 0 is the recognized original. */
  number: number;
  file_prefix: string;
  /** Id of the editing session that can still update the revision; null if the next save creates a new one. */
  sitting: string | null;
  /** Null for the recognized original. */
  actor_kind: ActorKind | null;
  actor_id: string | null;
  actor_name: string | null;
  word_count: number;
  /** Compared with the previous revision. */
  changed_words: number;
  created_at: Date;
  updated_at: Date;
}

/** When to send the event about the changes of a transcript; see `updated-event.ts`. */
interface TranscriptUpdateTable {
  transcription_id: string;
  /** The only job that may send the event; null if every change was announced. */
  job_id: string | null;
  /** The first change since the last event. */
  first_edit_at: Date;
  last_edit_at: Date;
  sent_at: Date | null;
}

interface TranscriptionCheckpointTable {
  transcription_id: string;
  attempt: number;
  number: number;
  /** Words up to this second of the media are final. */
  settled_seconds: number;
  /** Opaque. Only the speech package reads and writes it. */
  results: string;
}

interface EventTable {
  id: string;
  environment_id: string;
  type: SentEventType;
  /** Null for a test event, which has an endpoint instead. */
  transcription_id: string | null;
  endpoint_id: string | null;
  /** Additional fields of failed and skipped events. */
  detail: JSONColumnType<EventDetail>;
  created_at: Date;
}

export interface EventDetail {
  /** The duration when the transcription failed. A later attempt may change the transcription's row. */
  duration?: number | null;
  error?: { code: string; message: string };
  reason?: string;
}

interface WebhookEndpointTable {
  id: string;
  environment_id: string;
  url: string;
  event_types: JSONColumnType<EventType[]>;
  secret: string;
  /** After a rotation, signs deliveries together with `secret` for 24 hours. */
  previous_secret: string | null;
  previous_secret_expires_at: Date | null;
  metadata: JSONColumnType<Record<string, unknown>>;
  created_at: Date;
  /** Time of the first failure since the last success. */
  failing_since: Date | null;
  disabled_at: Date | null;
  disabled_reason: string | null;
}

interface DeliveryTable {
  id: string;
  event_id: string;
  /** Copied from the event, so that indexes can contain it. */
  event_type: SentEventType;
  endpoint_id: string;
  status: DeliveryStatus;
  /** The only job that may make the next attempt. */
  job_id: string;
  attempts: Generated<number>;
  /** Attempts before the last manual redelivery, which restarts the retry schedule. */
  attempts_before: Generated<number>;
  next_attempt_at: Date | null;
  /**
   * Earliest time to which the next attempt may be brought forward. Set because of `Retry-After` or an earlier attempt
   * that was brought forward.
   */
  held_until: ColumnType<Date | null, never, Date | null>;
  /** Failed attempts that were brought forward. The retry schedule does not count them. */
  early_attempts: Generated<number>;
  created_at: Date;
  finished_at: Date | null;
}

interface DeliveryAttemptTable {
  delivery_id: string;
  /** From 1. */
  number: number;
  attempted_at: Date;
  latency_ms: number;
  /** Null if there was no response. */
  status_code: number | null;
  failure: string | null;
  /** The first 1 KB of the response's body. */
  response_start: string | null;
}

/** The response to the first request with an `Idempotency-Key`. Repeated requests get the same response. */
interface IdempotencyKeyTable {
  environment_id: string;
  key: string;
  /** SHA-256 of the request, hexadecimal. */
  fingerprint: string;
  status: number;
  body: string;
  created_at: Date;
}

/**
 * `installation` is not secret: it ties the database to its data folder. `set_up` is the hash of the setup link's
 * token, until the first operator exists.
 */
export type SecretName = "url_signing" | "session" | "installation" | "set_up";

interface ServiceSecretTable {
  name: SecretName;
  /** Base64; hexadecimal for `set_up`. */
  value: string;
}

/** This and the next two tables are shared with better-auth. */
interface OperatorTable {
  id: string;
  name: string;
  /** Lower case. */
  email: string;
  email_verified: boolean;
  /** Role in all environments. Null if `operator_membership` has a role for each environment. */
  role: OperatorRole | null;
  created_at: Date;
  updated_at: Date;
}

interface OperatorAccountTable {
  id: string;
  operator_id: string;
  /** `credential`, for email and password. */
  provider_id: string;
  account_id: string;
  /** scrypt: salt and key, hexadecimal. */
  password_hash: string | null;
  created_at: Date;
  updated_at: Date;
}

interface OperatorSessionTable {
  id: string;
  /** The SHA-256 hash of the token in the cookie, in hexadecimal. */
  token: string;
  operator_id: string;
  expires_at: Date;
  ip_address: string | null;
  user_agent: string | null;
  created_at: Date;
  updated_at: Date;
}

interface OperatorInvitationTable {
  id: string;
  email: string;
  /** Role in all environments. Null if `environments` has roles. */
  role: OperatorRole | null;
  /** Empty if `role` is not null. */
  environments: JSONColumnType<EnvironmentRole[]>;
  /** SHA-256 of the link's token, hexadecimal. */
  token_hash: string;
  created_at: Date;
  expires_at: Date;
}

interface OperatorMembershipTable {
  operator_id: string;
  environment_id: string;
  role: OperatorRole;
}

/** Ids and names are from the time of the event, because the resources may no longer exist. */
interface AuditEventTable {
  id: string;
  at: Date;
  action: AuditAction;
  actor_kind: ActorKind;
  /** Id of an operator or an API key. */
  actor_id: string | null;
  actor_name: string | null;
  /** IP address. */
  address: string | null;
  environment_id: string | null;
  environment_name: string | null;
  subject_id: string | null;
  subject_name: string | null;
  detail: JSONColumnType<AuditDetail>;
}

/** A language in which an environment has, or once had, searchable transcripts. */
interface SearchLanguageTable {
  environment_id: string;
  language: string;
  /** PostgreSQL's text search dictionary that stems its words. */
  dictionary: string;
}

/**
 * A group of up to 16,384 passages of one environment. The lexemes of each passage include a marker of its shard, so a
 * search can read the newest shards first and stop when it has enough matches.
 */
interface SearchShardTable {
  /** Increases across all environments. */
  number: GeneratedAlways<number>;
  environment_id: string;
  passage_count: number;
}

interface SearchDocumentTable {
  /** Increases in the order in which transcriptions complete. */
  number: GeneratedAlways<number>;
  transcription_id: string;
  environment_id: string;
  /** The only job that may index the transcript. */
  job_id: string;
  /** `language`, `dictionary` and `shard` are null until indexing starts, and if the transcript has no words. */
  language: string | null;
  dictionary: string | null;
  shard: number | null;
  indexed_at: Date | null;
}

interface SearchPassageTable {
  document: number;
  ordinal: number;
  start_ms: number;
  end_ms: number;
  text: string;
  /** A `tsvector`. */
  lexemes: string;
}

/** A file that was missing at the last check; see `sweep-missing-files.ts`. */
interface MissingFileTable {
  video_id: string;
  part: MissingPart;
  noticed_at: Date;
}

export type MissingPart = "recording" | "transcript";

/** Progress of the check for missing files. One row, or none before the first check. */
interface FileCheckTable {
  only: GeneratedAlways<boolean>;
  /** Id of the last video that was checked; empty at the start of a round. */
  position: string;
  round_ended_at: Date | null;
}

/** A deleted video or transcription. A trigger inserts the row in the deleting transaction. */
interface TombstoneTable {
  id: string;
  deleted_at: GeneratedAlways<Date>;
}

/** A stored file that belongs to no row and no tombstone; see `sweep-stored-files.ts`. */
interface UnknownFileTable {
  /** The same on disk and in a bucket: `uploads/…` or `files/…`. */
  key: string;
  store: "recordings" | "transcripts";
  first_seen_at: Date;
  last_seen_at: Date;
  bytes: number;
}

/** The store that contains this database's files, and the database's generation; see `store-ownership.ts`. */
interface StoreRecordTable {
  only: GeneratedAlways<boolean>;
  store_id: string;
  /** Identity of this database. The store contains the same value. */
  owner: string;
  /** Location of the database when `owner` was assigned. */
  home: string;
  generation: number;
  /** A random token for this generation, because two copies of a database can reach the same number. */
  token: string;
  /** By the database's clock. */
  advanced_at: Date;
}

/** Fair-queueing state; see `fair-queueing.ts` for the unit of tags. */
interface EnvironmentQueueTable {
  environment_id: string;
  weight: Generated<number>;
  finish_tag: Generated<number>;
  /** Queued jobs with this or a later start tag must be retagged; null if there are none. */
  retag_from: number | null;
  /** Moving average of completed transcriptions; null before the first. */
  work_seconds_per_byte: number | null;
}

interface EngineChoiceTable {
  only: GeneratedAlways<boolean>;
  /** Name of a model in the catalog, or `bundled`. */
  engine: string;
}

interface BulkOperationTable {
  id: string;
  environment_id: string;
  kind: BulkOperationKind;
  state: BulkOperationState;
  /** Null for a download, which runs in a request. */
  job_id: string | null;
  /** Email of an operator; null for the command line. */
  requested_by: string | null;
  matched: number;
  /** Videos of the batches that have ended, by outcome. */
  done: Generated<number>;
  failed: Generated<number>;
  skipped: Generated<number>;
  created_at: Date;
  finished_at: Date | null;
}

interface BulkOperationItemTable {
  operation_id: string;
  video_id: string;
  /** Null until the video is processed. */
  outcome: "done" | "failed" | "skipped" | null;
}

interface QueueClockTable {
  only: GeneratedAlways<boolean>;
  /** The largest start tag of all claimed jobs. */
  virtual_time: Generated<number>;
  /** The tag with priority 0. */
  base: Generated<number>;
}

export type BulkOperationRow = Selectable<BulkOperationTable>;
export type StoreRecordRow = Selectable<StoreRecordTable>;
export type SearchDocumentRow = Selectable<SearchDocumentTable>;
export type OperatorRow = Selectable<OperatorTable>;
export type OperatorSessionRow = Selectable<OperatorSessionTable>;
export type AuditEventRow = Selectable<AuditEventTable>;
export type NewAuditEvent = Insertable<AuditEventTable>;
export type OperatorInvitationRow = Selectable<OperatorInvitationTable>;
export type NewOperatorInvitation = Insertable<OperatorInvitationTable>;
export type EnvironmentRow = Selectable<EnvironmentTable>;
export type ApiKeyRow = Selectable<ApiKeyTable>;
export type NewApiKey = Insertable<ApiKeyTable>;
export type VideoRow = Selectable<VideoTable>;
export type TranscriptionRow = Selectable<TranscriptionTable>;
export type TranscriptRevisionRow = Selectable<TranscriptRevisionTable>;
export type TranscriptUpdateRow = Selectable<TranscriptUpdateTable>;
export type TranscriptionAttemptRow = Selectable<TranscriptionAttemptTable>;
export type EventRow = Selectable<EventTable>;
export type WebhookEndpointRow = Selectable<WebhookEndpointTable>;
export type DeliveryRow = Selectable<DeliveryTable>;
export type DeliveryAttemptRow = Selectable<DeliveryAttemptTable>;
