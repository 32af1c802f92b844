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
  EnvironmentRole,
  OperatorRole,
  RetentionPolicy,
} from "./enums.ts";

/** Rows as the database stores them; `migrations/` creates the tables. */
export interface Schema {
  environment: EnvironmentTable;
  api_key: ApiKeyTable;
  video: VideoTable;
  transcription: TranscriptionTable;
  transcription_attempt: TranscriptionAttemptTable;
  transcription_checkpoint: TranscriptionCheckpointTable;
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
  /** What retention deletes; null if `retention_days` is null. */
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
  /** Bytes; null until the client declares it. */
  size_bytes: ColumnType<number, number | null, number | null> | null;
  created_at: Date;
  /** Null while the upload is running. */
  uploaded_at: ColumnType<Date | null, never, Date>;
  /** The toggle as it was when the upload completed; null until then. */
  ai_transcription: ColumnType<boolean | null, never, boolean>;
  /** When retention deleted the recording; null while it exists. */
  recording_deleted_at: ColumnType<Date | null, never, Date>;
  /** By the database's clock; set by a trigger at every write except those of `upload_active_at`. */
  changed_at: GeneratedAlways<Date>;
  /** When bytes of the upload last arrived, by the database's clock; up to two minutes behind. */
  upload_active_at: Generated<Date>;
}

interface TranscriptionTable {
  id: string;
  video_id: string;
  environment_id: string;
  status: TranscriptionStatus;
  /** The one job that may process it; any other job stops. */
  job_id: string;
  /** Number of attempts that have started; the fencing token of every later write. */
  attempt: Generated<number>;
  /** Attempts of this round that ended in a retryable failure. */
  failure_count: Generated<number>;
  /** Attempts of this round whose worker crashed. */
  crash_count: Generated<number>;
  language: string | null;
  word_count: number | null;
  duration: number | null;
  /** 0 … 1, of the running attempt. */
  progress: Generated<number>;
  /** Remaining time of the running attempt; null if unknown. */
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
  /** Engine and model of each language segment; null until COMPLETED. */
  language_segments: ColumnType<LanguageSegment[] | null, string | undefined, string>;
  /** Storage key of the waveform; it can exist without transcript files. */
  waveform_prefix: ColumnType<string | null, never, string | null>;
  created_at: Date;
  /** When it last became PENDING. */
  queued_at: Date;
  /** No attempt starts before this time, by the database's clock; null if there is no such time. */
  due_at: ColumnType<Date | null, Date | undefined, Date | null>;
  started_at: Date | null;
  finished_at: Date | null;
  /** As the video's. */
  changed_at: GeneratedAlways<Date>;
}

/** One attempt of a worker; kept when the transcription is reopened. */
interface TranscriptionAttemptTable {
  transcription_id: string;
  /** The transcription's `attempt` while it ran. */
  number: number;
  queued_at: Date;
  started_at: Date;
  decoded_at: ColumnType<Date | null, never, Date>;
  transcribed_at: ColumnType<Date | null, never, Date | null>;
  /** Null while it runs, like the next column. */
  ended_at: ColumnType<Date | null, never, Date>;
  outcome: ColumnType<AttemptOutcome | null, never, AttemptOutcome>;
  failure_code: ColumnType<string | null, never, string | null>;
  failure_message: ColumnType<string | null, never, string | null>;
  retry_at: ColumnType<Date | null, never, Date | null>;
}

/** A checkpoint of a running transcription; deleted when the transcription ends. */
interface TranscriptionCheckpointTable {
  transcription_id: string;
  /** The attempt that wrote it. */
  attempt: number;
  number: number;
  /** Words are final up to this second of the media. */
  settled_seconds: number;
  /** Opaque: written and read only by the speech package. */
  results: string;
}

interface EventTable {
  id: string;
  environment_id: string;
  type: SentEventType;
  /** The subject; null for a test event, whose subject is its endpoint. */
  transcription_id: string | null;
  endpoint_id: string | null;
  /** Additional data of failed and skipped events. */
  detail: JSONColumnType<EventDetail>;
  created_at: Date;
}

export interface EventDetail {
  /** For failed events: the data at that time, because a later attempt may change the row. */
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
  /** Also signs until it expires, 24 h after a rotation. */
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
  /** The event's. */
  event_type: SentEventType;
  endpoint_id: string;
  status: DeliveryStatus;
  /** The only job that may make the next attempt. */
  job_id: string;
  attempts: Generated<number>;
  /** Attempts before the last manual redelivery; the schedule counts from there. */
  attempts_before: Generated<number>;
  next_attempt_at: Date | null;
  /** Earliest time to which the next attempt can be brought forward: set by `Retry-After` or an earlier such attempt. */
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
  /** Null if there was no response. */
  status_code: number | null;
  failure: string | null;
  /** The first 1 KB of the response's body. */
  response_start: string | null;
}

/** The response to a POST, which is repeated for the same idempotency key. */
interface IdempotencyKeyTable {
  environment_id: string;
  key: string;
  /** SHA-256 of the request, hexadecimal. */
  fingerprint: string;
  status: number;
  /** The JSON response body as it was sent. */
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

/** A person who may sign in. This and the next two tables are shared with better-auth. */
interface OperatorTable {
  id: string;
  name: string;
  /** Lower case. */
  email: string;
  email_verified: boolean;
  /** In all environments; null if the operator has a role only in those of `operator_membership`. */
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

/** Allows one person to become an operator; deleted when it is used. */
interface OperatorInvitationTable {
  id: string;
  email: string;
  /** As in `operator`. */
  role: OperatorRole | null;
  /** The future memberships; empty if `role` is not null. */
  environments: JSONColumnType<EnvironmentRole[]>;
  /** SHA-256 of the link's token, hexadecimal. */
  token_hash: string;
  created_at: Date;
  expires_at: Date;
}

/** The role of an operator in one environment. */
interface OperatorMembershipTable {
  operator_id: string;
  environment_id: string;
  role: OperatorRole;
}

/** Audit events. Ids and names are those at the time of the event; the resources may no longer exist. */
interface AuditEventTable {
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

/** A language of an environment's searchable transcripts; it remains when the last of them is deleted. */
interface SearchLanguageTable {
  environment_id: string;
  language: string;
  /** The stemmer for its words. */
  dictionary: string;
}

/**
 * Some thousand passages of one environment. Each passage has its shard's marker among its lexemes, so a search reads
 * the newest shards first and only as many as it needs, instead of every match.
 */
interface SearchShardTable {
  /** Increases over all environments. */
  number: GeneratedAlways<number>;
  environment_id: string;
  passage_count: number;
}

/** A completed transcript in the search index. */
interface SearchDocumentTable {
  /** Increases in the order of completion. */
  number: GeneratedAlways<number>;
  transcription_id: string;
  environment_id: string;
  /** The only job that may index it. */
  job_id: string;
  /** These three are null until indexing starts, and if the transcript has no words. */
  language: string | null;
  dictionary: string | null;
  shard: number | null;
  indexed_at: Date | null;
}

/** A sentence or a part of one. */
interface SearchPassageTable {
  document: number;
  ordinal: number;
  start_ms: number;
  end_ms: number;
  text: string;
  /** A `tsvector`. */
  lexemes: string;
}

/** A file that a row names and the last check did not find; see `sweep-missing-files.ts`. */
interface MissingFileTable {
  video_id: string;
  part: MissingPart;
  noticed_at: Date;
}

export type MissingPart = "recording" | "transcript";

/** Progress of the check of all files; one row, or none before the first check. */
interface FileCheckTable {
  only: GeneratedAlways<boolean>;
  /** The id of the last video that was checked; empty at the start of a round. */
  position: string;
  /** End of the last complete round. */
  round_ended_at: Date | null;
}

/** The id of a deleted video or transcription; triggers write it in the deleting transaction. */
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

/** The store that contains this database's files, and the generation of both; see `store-ownership.ts`. */
interface StoreRecordTable {
  only: GeneratedAlways<boolean>;
  /** Identity of the store. */
  store_id: string;
  /** Identity of this database, by which the store recognizes it. */
  owner: string;
  /** Location of the database when it got that identity. */
  home: string;
  generation: number;
  /** A random token of the generation: two copies of a database can reach the same number. */
  token: string;
  /** By the database's clock. */
  advanced_at: Date;
}

/** Fair-queueing state of an environment. The unit of tags is that of `fair-queueing.ts`. */
interface EnvironmentQueueTable {
  environment_id: string;
  /** Share of the work relative to other environments, 1 to 100. */
  weight: Generated<number>;
  /** Finish tag of the last enqueued job. */
  finish_tag: Generated<number>;
  /** Queued jobs with at least this start tag must be retagged; null if there are none. */
  retag_from: number | null;
  /** Moving average over completed transcriptions; null before the first. */
  work_seconds_per_byte: number | null;
}

/** One row. */
interface QueueClockTable {
  only: GeneratedAlways<boolean>;
  /** The largest start tag of any claimed job. */
  virtual_time: Generated<number>;
  /** The tag whose priority is 0. */
  base: Generated<number>;
}

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
export type TranscriptionAttemptRow = Selectable<TranscriptionAttemptTable>;
export type EventRow = Selectable<EventTable>;
export type WebhookEndpointRow = Selectable<WebhookEndpointTable>;
export type DeliveryRow = Selectable<DeliveryTable>;
export type DeliveryAttemptRow = Selectable<DeliveryAttemptTable>;
