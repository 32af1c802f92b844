import type { Kysely, Transaction } from "kysely";
import type { ApiKeyTable, EnvironmentTable } from "./tables/environments.ts";
import type {
  AuditEventTable,
  OperatorAccountTable,
  OperatorInvitationTable,
  OperatorMembershipTable,
  OperatorSessionTable,
  OperatorTable,
} from "./tables/operators.ts";
import type { EnvironmentQueueTable, QueueClockTable } from "./tables/queue.ts";
import type {
  SearchDocumentTable,
  SearchLanguageTable,
  SearchPassageTable,
  SearchShardTable,
} from "./tables/search.ts";
import type { EngineChoiceTable, IdempotencyKeyTable, ServiceSecretTable } from "./tables/service.ts";
import type {
  FileCheckTable,
  MissingFileTable,
  StoreRecordTable,
  TombstoneTable,
  UnknownFileTable,
} from "./tables/stored-files.ts";
import type {
  TranscriptionAttemptTable,
  TranscriptionCheckpointTable,
  TranscriptionTable,
  TranscriptRevisionTable,
  TranscriptUpdateTable,
} from "./tables/transcriptions.ts";
import type { BulkOperationItemTable, BulkOperationTable, VideoTable } from "./tables/videos.ts";
import type {
  DeliveryAttemptTable,
  DeliveryTable,
  EventTable,
  WebhookEndpointTable,
} from "./tables/webhooks.ts";

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
