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
  OperatorRole,
  RetentionPolicy,
} from "./enums.ts";

/** Rows as the database holds them; `migrations.ts` makes the tables. */
export interface Schema {
  environment: EnvironmentTable;
  api_key: ApiKeyTable;
  video: VideoTable;
  transcription: TranscriptionTable;
  transcription_attempt: TranscriptionAttemptTable;
  transcription_stretch: TranscriptionStretchTable;
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
  search_language: SearchLanguageTable;
  search_shard: SearchShardTable;
  search_document: SearchDocumentTable;
  search_passage: SearchPassageTable;
  missing_file: MissingFileTable;
  file_check: FileCheckTable;
  audit_entry: AuditEntryTable;
  tombstone: TombstoneTable;
  unknown_file: UnknownFileTable;
  store_record: StoreRecordTable;
  environment_queue: EnvironmentQueueTable;
  queue_clock: QueueClockTable;
}

/** The open database, outside any transaction. */
export type Db = Kysely<Schema>;
/** A running transaction. Functions that take one must use it for every query. */
export type Tx = Transaction<Schema>;

interface EnvironmentTable {
  id: string;
  name: string;
  /** The AI Transcription toggle. */
  ai_transcription: boolean;
  /** Origins of pages that may upload, or `*` for any. */
  allowed_origins: ColumnType<string[], string | undefined, string>;
  created_at: Date;
  /** Days from the end of a transcription, or of an upload without one; null keeps everything. */
  retention_days: Generated<number | null>;
  /** What is deleted then; null with the days. */
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
  /** Also the id of its tus upload and the name of its source file. */
  id: string;
  environment_id: string;
  metadata: JSONColumnType<VideoMetadata>;
  /** Bytes; null until the uploader declares it. */
  size_bytes: ColumnType<number, number | null, number | null> | null;
  created_at: Date;
  /** Null while the upload is running. */
  uploaded_at: ColumnType<Date | null, never, Date>;
  /** The toggle as it was when the upload completed; null until then. */
  ai_transcription: ColumnType<boolean | null, never, boolean>;
  /** By the environment's retention; null while the recording is kept. */
  recording_deleted_at: ColumnType<Date | null, never, Date>;
  /** By the database's clock; set by a trigger at every write but those of `upload_active_at`. */
  changed_at: GeneratedAlways<Date>;
  /** When bytes of the upload last arrived, by the database's clock; up to two minutes behind. */
  upload_active_at: Generated<Date>;
}

interface TranscriptionTable {
  id: string;
  video_id: string;
  environment_id: string;
  status: TranscriptionStatus;
  /** The one job that may work on it; any other finds itself replaced and stops. */
  job_id: string;
  /** Counts the times that a worker began; every later write is fenced by it. */
  attempt: Generated<number>;
  /** Attempts of this round that ended in a fault that may pass. */
  faults: Generated<number>;
  /** Attempts of this round whose worker died. */
  losses: Generated<number>;
  language: string | null;
  word_count: number | null;
  duration: number | null;
  /** 0 … 1, of the attempt that is running. */
  progress: Generated<number>;
  /** Until the attempt that is running is done; null where that is not known. */
  remaining_seconds: number | null;
  /** Prefix of the keys of its files in the storage; null until COMPLETED. */
  file_prefix: string | null;
  /** The formats that were stored when it was COMPLETED. */
  file_formats: ColumnType<FileFormat[], string | undefined, string>;
  failure_code: string | null;
  failure_message: string | null;
  skip_reason: string | null;
  engine: string | null;
  decoder: string | null;
  /** Number of the audio track that was transcribed, from 1; null if it is the default or the only one. */
  audio_track: ColumnType<number | null, never, number | null>;
  /** True where damaged parts of the recording are missing from the transcript. */
  incomplete: Generated<boolean>;
  stages: JSONColumnType<StageSeconds | null>;
  /** Who heard what where; null until COMPLETED, and for what was completed before this was kept. */
  stretches: ColumnType<LanguageSegment[] | null, string | undefined, string>;
  /** Where the waveform lies in the storage; it may be there without files. */
  waveform_prefix: ColumnType<string | null, never, string | null>;
  created_at: Date;
  /** When it became PENDING last; null for what was accepted by a release that did not keep it. */
  queued_at: ColumnType<Date | null, Date | undefined, Date>;
  /** No attempt starts before this time, by the database's clock; null if there is no such time. */
  due_at: ColumnType<Date | null, Date | undefined, Date | null>;
  /** Used only by releases before fair queueing. */
  parked_at: ColumnType<Date | null, never, never>;
  started_at: Date | null;
  finished_at: Date | null;
  /** As the video's. */
  changed_at: GeneratedAlways<Date>;
}

/** One worker's try; kept also when the transcription is reopened. */
interface TranscriptionAttemptTable {
  transcription_id: string;
  /** The transcription's `attempt` while it ran. */
  number: number;
  queued_at: Date;
  started_at: Date;
  decoded_at: ColumnType<Date | null, never, Date>;
  transcribed_at: ColumnType<Date | null, never, Date | null>;
  /** Null while it runs, as the next. */
  ended_at: ColumnType<Date | null, never, Date>;
  outcome: ColumnType<AttemptOutcome | null, never, AttemptOutcome>;
  failure_code: ColumnType<string | null, never, string | null>;
  failure_message: ColumnType<string | null, never, string | null>;
  retry_at: ColumnType<Date | null, never, Date | null>;
}

/** What was heard of a recording that is worked on; gone with the end of its transcription. */
interface TranscriptionStretchTable {
  transcription_id: string;
  /** The attempt that heard it. */
  attempt: number;
  number: number;
  /** Words were settled up to this second of the media. */
  settled_seconds: number;
  /** What the speech package wrote, and alone reads. */
  answers: string;
}

interface EventTable {
  id: string;
  environment_id: string;
  type: SentEventType;
  /** What it is about; null for a test event, which is about its endpoint. */
  transcription_id: string | null;
  endpoint_id: string | null;
  /** What the failed and skipped events tell beside the transcription. */
  detail: JSONColumnType<EventDetail>;
  created_at: Date;
}

export interface EventDetail {
  /** Of the failed event: what was known then, since a later attempt may learn more. */
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
  /** Signs beside `secret` until it expires, 24 h after a rotation. */
  previous_secret: string | null;
  previous_secret_expires_at: Date | null;
  metadata: JSONColumnType<Record<string, unknown>>;
  created_at: Date;
  /** The first failure since the last success. */
  failing_since: Date | null;
  disabled_at: Date | null;
  disabled_reason: string | null;
}

interface DeliveryTable {
  id: string;
  event_id: string;
  /** The event's; set by a trigger. */
  event_type: GeneratedAlways<SentEventType>;
  endpoint_id: string;
  status: DeliveryStatus;
  /** The one job that may make the next attempt. */
  job_id: string;
  attempts: Generated<number>;
  /** Attempts made before the delivery was begun anew by hand; the schedule counts from there. */
  attempts_before: Generated<number>;
  next_attempt_at: Date | null;
  /** The next attempt is not brought forward before this time: the receiver asked for it, or it already was once. */
  held_until: ColumnType<Date | null, never, Date | null>;
  /** Attempts that were brought forward and failed; the schedule does not count them. */
  early_attempts: Generated<number>;
  created_at: Date;
  finished_at: Date | null;
}

interface DeliveryAttemptTable {
  delivery_id: string;
  /** Counts from 1. */
  number: number;
  attempted_at: Date;
  latency_ms: number;
  /** Null where no response came. */
  status_code: number | null;
  failure: string | null;
  /** The first 1 KB of the response's body. */
  response_start: string | null;
}

/** What a POST was answered, so that its repetition is answered alike. */
interface IdempotencyKeyTable {
  environment_id: string;
  key: string;
  /** SHA-256 of the request, hexadecimal. */
  fingerprint: string;
  status: number;
  /** JSON, as it was sent. */
  body: string;
  created_at: Date;
}

/**
 * `installation` is no secret: it ties the database to its data folder. `set_up` is the
 * hash of the setup link's token, until the first operator exists.
 */
export type SecretName = "url_signing" | "session" | "installation" | "set_up";

interface ServiceSecretTable {
  name: SecretName;
  /** Base64; hexadecimal for `set_up`. */
  value: string;
}

/** A person who may sign in. This and the next two tables are shared with better-auth. */
interface OperatorTable {
  id: string;
  name: string;
  /** Lower case. */
  email: string;
  email_verified: boolean;
  role: OperatorRole;
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

/** Lets one person become an operator; gone once it is used. */
interface OperatorInvitationTable {
  id: string;
  email: string;
  role: OperatorRole;
  /** SHA-256 of the link's token, hexadecimal. */
  token_hash: string;
  created_at: Date;
  expires_at: Date;
}

/** Who changed what. Ids and names of things as they were, which may be gone since. */
interface AuditEntryTable {
  id: string;
  at: Date;
  action: AuditAction;
  actor_kind: ActorKind;
  /** Of an operator or an API key. */
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

/** A language that an environment's transcripts are searched in; it stays when the last of them goes. */
interface SearchLanguageTable {
  environment_id: string;
  language: string;
  /** What its words are stemmed by. */
  dictionary: string;
}

/**
 * Some thousand passages of one environment. Each carries its shard's marker among its lexemes, so that a
 * search reads the newest shards first and as many as it needs, not all that its words occur in.
 */
interface SearchShardTable {
  /** Counts up, over all environments. */
  number: GeneratedAlways<number>;
  environment_id: string;
  passage_count: number;
}

/** A completed transcript, for the search. */
interface SearchDocumentTable {
  /** Counts up in the order of completion. */
  number: GeneratedAlways<number>;
  transcription_id: string;
  environment_id: string;
  /** The one job that may index it. */
  job_id: string;
  /** These three are null until its indexing begins, and where it has no words. */
  language: string | null;
  dictionary: string | null;
  shard: number | null;
  indexed_at: Date | null;
}

/** A sentence, or a part of one. */
interface SearchPassageTable {
  document: number;
  ordinal: number;
  start_ms: number;
  end_ms: number;
  text: string;
  /** A `tsvector`. */
  lexemes: string;
}

/** What a row says is there and the last look at the files did not find; see `sweep-missing.ts`. */
interface MissingFileTable {
  video_id: string;
  part: MissingPart;
  noticed_at: Date;
}

export type MissingPart = "recording" | "transcript";

/** How far the look at all files has come; one row, or none before the first. */
interface FileCheckTable {
  only: GeneratedAlways<boolean>;
  /** The id of the video that was looked at last; empty at the start of a round. */
  position: string;
  /** Of the last round that saw every file. */
  round_ended_at: Date | null;
}

/** The id of a deleted video or transcription; triggers write it in the transaction that deletes. */
interface TombstoneTable {
  id: string;
  deleted_at: GeneratedAlways<Date>;
}

/** A stored file with neither a row nor a tombstone; see `sweep-stored-files.ts`. */
interface UnknownFileTable {
  /** As in a bucket, without its prefix: `uploads/…` or `files/…`. */
  key: string;
  store: "recordings" | "transcripts";
  first_seen_at: Date;
  last_seen_at: Date;
  bytes: number;
}

/** The store that holds this database's files, and the generation of the two; see `store-ownership.ts`. */
interface StoreRecordTable {
  only: GeneratedAlways<boolean>;
  /** Of the store. */
  store_id: string;
  /** Of this database; the store identifies it by this. */
  owner: string;
  /** Where the database was when it took that identity. */
  home: string;
  generation: number;
  /** A random token of the generation: two copies of a database can reach the same number. */
  token: string;
  /** By the database's clock. */
  advanced_at: Date;
}

/** What fair queueing knows of an environment. Tags are in the units of `fair-queueing.ts`. */
interface EnvironmentQueueTable {
  environment_id: string;
  /** Share of the work relative to other environments, 1 to 100. */
  weight: Generated<number>;
  /** Finish tag of the job that was enqueued last. */
  finish_tag: Generated<number>;
  /** Queued jobs with at least this start tag must be retagged; null if there are none. */
  retag_from: number | null;
  /** Moving average over completed transcriptions; null before the first. */
  work_seconds_per_byte: number | null;
}

/** One row. */
interface QueueClockTable {
  only: GeneratedAlways<boolean>;
  /** The largest start tag of a claimed job. */
  virtual_time: Generated<number>;
  /** The tag whose priority is 0. */
  base: Generated<number>;
}

export type StoreRecordRow = Selectable<StoreRecordTable>;
export type SearchDocumentRow = Selectable<SearchDocumentTable>;
export type OperatorRow = Selectable<OperatorTable>;
export type OperatorSessionRow = Selectable<OperatorSessionTable>;
export type AuditEntryRow = Selectable<AuditEntryTable>;
export type NewAuditEntry = Insertable<AuditEntryTable>;
export type OperatorInvitationRow = Selectable<OperatorInvitationTable>;
export type EnvironmentRow = Selectable<EnvironmentTable>;
export type ApiKeyRow = Selectable<ApiKeyTable>;
export type NewApiKey = Insertable<ApiKeyTable>;
export type VideoRow = Selectable<VideoTable>;
export type TranscriptionRow = Selectable<TranscriptionTable>;
export type TranscriptionAttemptRow = Selectable<TranscriptionAttemptTable>;
export type EventRow = Selectable<EventTable>;
export type WebhookEndpointRow = Selectable<WebhookEndpointTable>;
export type DeliveryRow = Selectable<DeliveryTable>;
export type DeliveryAttemptRow = Selectable<DeliveryAttemptTable>;
