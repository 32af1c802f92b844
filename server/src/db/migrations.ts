import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { attempts } from "./migration-attempts.ts";
import { audioTrack } from "./migration-audio-track.ts";
import { audit } from "./migration-audit.ts";
import { dashboard } from "./migration-dashboard.ts";
import { deletions } from "./migration-deletions.ts";
import { earlyDeliveries } from "./migration-early-deliveries.ts";
import { eventTypes } from "./migration-event-types.ts";
import { fairQueueing } from "./migration-fair-queueing.ts";
import { fileFormats } from "./migration-file-formats.ts";
import { housekeeping } from "./migration-housekeeping.ts";
import { search } from "./migration-search.ts";
import { searchStopWords } from "./migration-search-stop-words.ts";
import { sessionHashes } from "./migration-security.ts";
import { storage } from "./migration-storage.ts";
import { keptStretches } from "./migration-stretches.ts";
import { turns } from "./migration-turns.ts";
import { uploadActivity } from "./migration-upload-activity.ts";

/**
 * The tables, in the order of their creation. A released migration is never edited. Each must be safe while processes
 * of the previous release are still running.
 */
export const MIGRATIONS: Record<string, Migration> = {
  "0001_first": { up: first },
  "0002_operators": { up: operators },
  "0003_stretches": { up: stretches },
  "0004_contract": { up: contract },
  "0005_dashboard": { up: dashboard },
  "0006_attempts": { up: attempts },
  "0007_search": { up: search },
  "0008_turns": { up: turns },
  "0009_kept_stretches": { up: keptStretches },
  "0010_housekeeping": { up: housekeeping },
  "0011_deletions": { up: deletions },
  "0013_audit": { up: audit },
  "0014_event_types": { up: eventTypes },
  "0015_storage": { up: storage },
  "0016_session_hashes": { up: sessionHashes },
  "0017_audio_track": { up: audioTrack },
  "0019_early_deliveries": { up: earlyDeliveries },
  "0020_upload_activity": { up: uploadActivity },
  "0021_fair_queueing": { up: fairQueueing },
  "0022_search_stop_words": { up: searchStopWords },
  "0023_file_formats": { up: fileFormats },
};

async function first(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("environment")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("name", "text", (c) => c.notNull().unique())
    .addColumn("ai_transcription", "boolean", (c) => c.notNull())
    .addColumn("created_at", "timestamptz", (c) => c.notNull())
    .execute();

  await db.schema
    .createTable("api_key")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("environment_id", "text", (c) => c.notNull().references("environment.id").onDelete("cascade"))
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("key_hash", "text", (c) => c.notNull())
    .addColumn("permissions", "jsonb", (c) => c.notNull())
    .addColumn("created_at", "timestamptz", (c) => c.notNull())
    .addColumn("expires_at", "timestamptz")
    .addColumn("last_used_at", "timestamptz")
    .addColumn("revoked_at", "timestamptz")
    .execute();
  await db.schema.createIndex("api_key_environment").on("api_key").column("environment_id").execute();

  await db.schema
    .createTable("video")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("environment_id", "text", (c) => c.notNull().references("environment.id"))
    .addColumn("metadata", "jsonb", (c) => c.notNull())
    .addColumn("size_bytes", "bigint")
    .addColumn("created_at", "timestamptz", (c) => c.notNull())
    .addColumn("uploaded_at", "timestamptz")
    .addColumn("ai_transcription", "boolean")
    .execute();
  await db.schema
    .createIndex("video_environment")
    .on("video")
    .columns(["environment_id", "created_at", "id"])
    .execute();
  await db.schema
    .createIndex("video_uploading")
    .on("video")
    .column("created_at")
    .where(sql.ref("uploaded_at"), "is", null)
    .execute();

  await db.schema
    .createTable("transcription")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("video_id", "text", (c) => c.notNull().unique().references("video.id").onDelete("cascade"))
    .addColumn("environment_id", "text", (c) => c.notNull().references("environment.id"))
    .addColumn("status", "text", (c) =>
      c.notNull().check(sql`status in ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED', 'SKIPPED')`),
    )
    .addColumn("job_id", "uuid", (c) => c.notNull())
    .addColumn("attempt", "integer", (c) => c.notNull().defaultTo(0))
    .addColumn("faults", "integer", (c) => c.notNull().defaultTo(0))
    .addColumn("losses", "integer", (c) => c.notNull().defaultTo(0))
    .addColumn("language", "text")
    .addColumn("word_count", "integer")
    .addColumn("duration", "double precision")
    .addColumn("progress", "double precision", (c) => c.notNull().defaultTo(0))
    .addColumn("file_prefix", "text")
    .addColumn("failure_code", "text")
    .addColumn("failure_message", "text")
    .addColumn("skip_reason", "text")
    .addColumn("engine", "text")
    .addColumn("decoder", "text")
    .addColumn("incomplete", "boolean", (c) => c.notNull().defaultTo(false))
    .addColumn("stages", "jsonb")
    .addColumn("created_at", "timestamptz", (c) => c.notNull())
    .addColumn("started_at", "timestamptz")
    .addColumn("finished_at", "timestamptz")
    .addCheckConstraint(
      "transcription_files_when_completed",
      sql`(status = 'COMPLETED') = (file_prefix is not null)`,
    )
    .execute();
  await db.schema
    .createIndex("transcription_status")
    .on("transcription")
    .columns(["status", "created_at"])
    .execute();

  await db.schema
    .createTable("event")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("environment_id", "text", (c) => c.notNull().references("environment.id"))
    .addColumn("type", "text", (c) => c.notNull())
    .addColumn("transcription_id", "text", (c) =>
      c.notNull().references("transcription.id").onDelete("cascade"),
    )
    .addColumn("detail", "jsonb", (c) => c.notNull())
    .addColumn("created_at", "timestamptz", (c) => c.notNull())
    .execute();
  await db.schema.createIndex("event_transcription").on("event").column("transcription_id").execute();

  await db.schema
    .createTable("webhook_endpoint")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("environment_id", "text", (c) => c.notNull().references("environment.id").onDelete("cascade"))
    .addColumn("url", "text", (c) => c.notNull())
    .addColumn("event_types", "jsonb", (c) => c.notNull())
    .addColumn("secret", "text", (c) => c.notNull())
    .addColumn("previous_secret", "text")
    .addColumn("previous_secret_expires_at", "timestamptz")
    .addColumn("metadata", "jsonb", (c) => c.notNull())
    .addColumn("created_at", "timestamptz", (c) => c.notNull())
    .addColumn("failing_since", "timestamptz")
    .addColumn("disabled_at", "timestamptz")
    .addColumn("disabled_reason", "text")
    .execute();
  await db.schema
    .createIndex("webhook_endpoint_environment")
    .on("webhook_endpoint")
    .column("environment_id")
    .execute();

  await db.schema
    .createTable("delivery")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("event_id", "text", (c) => c.notNull().references("event.id").onDelete("cascade"))
    .addColumn("endpoint_id", "text", (c) =>
      c.notNull().references("webhook_endpoint.id").onDelete("cascade"),
    )
    .addColumn("status", "text", (c) =>
      c.notNull().check(sql`status in ('pending', 'succeeded', 'failed', 'canceled')`),
    )
    .addColumn("job_id", "uuid", (c) => c.notNull())
    .addColumn("attempts", "integer", (c) => c.notNull().defaultTo(0))
    .addColumn("next_attempt_at", "timestamptz")
    .addColumn("created_at", "timestamptz", (c) => c.notNull())
    .addColumn("finished_at", "timestamptz")
    .addUniqueConstraint("delivery_once_per_endpoint", ["event_id", "endpoint_id"])
    .execute();
  await db.schema
    .createIndex("delivery_endpoint")
    .on("delivery")
    .columns(["endpoint_id", "created_at"])
    .execute();

  await db.schema
    .createTable("delivery_attempt")
    .addColumn("delivery_id", "text", (c) => c.notNull().references("delivery.id").onDelete("cascade"))
    .addColumn("number", "integer", (c) => c.notNull())
    .addColumn("attempted_at", "timestamptz", (c) => c.notNull())
    .addColumn("latency_ms", "integer", (c) => c.notNull())
    .addColumn("status_code", "integer")
    .addColumn("failure", "text")
    .addColumn("response_start", "text")
    .addPrimaryKeyConstraint("delivery_attempt_pkey", ["delivery_id", "number"])
    .execute();

  await db.schema
    .createTable("service_secret")
    .addColumn("name", "text", (c) => c.primaryKey())
    .addColumn("value", "text", (c) => c.notNull())
    .execute();
}

/** People who sign in. The columns are those that better-auth requires; `operators.ts` maps their names. */
async function operators(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("operator")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("email", "text", (c) => c.notNull().unique())
    .addColumn("email_verified", "boolean", (c) => c.notNull())
    .addColumn("image", "text")
    .addColumn("created_at", "timestamptz", (c) => c.notNull())
    .addColumn("updated_at", "timestamptz", (c) => c.notNull())
    .execute();

  await db.schema
    .createTable("operator_account")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("operator_id", "text", (c) => c.notNull().references("operator.id").onDelete("cascade"))
    .addColumn("provider_id", "text", (c) => c.notNull())
    .addColumn("account_id", "text", (c) => c.notNull())
    .addColumn("password_hash", "text")
    .addColumn("access_token", "text")
    .addColumn("refresh_token", "text")
    .addColumn("id_token", "text")
    .addColumn("access_token_expires_at", "timestamptz")
    .addColumn("refresh_token_expires_at", "timestamptz")
    .addColumn("scope", "text")
    .addColumn("created_at", "timestamptz", (c) => c.notNull())
    .addColumn("updated_at", "timestamptz", (c) => c.notNull())
    .addUniqueConstraint("operator_account_once", ["provider_id", "account_id"])
    .execute();
  await db.schema
    .createIndex("operator_account_operator")
    .on("operator_account")
    .column("operator_id")
    .execute();

  await db.schema
    .createTable("operator_session")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("token", "text", (c) => c.notNull().unique())
    .addColumn("operator_id", "text", (c) => c.notNull().references("operator.id").onDelete("cascade"))
    .addColumn("expires_at", "timestamptz", (c) => c.notNull())
    .addColumn("ip_address", "text")
    .addColumn("user_agent", "text")
    .addColumn("created_at", "timestamptz", (c) => c.notNull())
    .addColumn("updated_at", "timestamptz", (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex("operator_session_operator")
    .on("operator_session")
    .column("operator_id")
    .execute();

  await db.schema
    .createTable("operator_verification")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("identifier", "text", (c) => c.notNull())
    .addColumn("value", "text", (c) => c.notNull())
    .addColumn("expires_at", "timestamptz", (c) => c.notNull())
    .addColumn("created_at", "timestamptz", (c) => c.notNull())
    .addColumn("updated_at", "timestamptz", (c) => c.notNull())
    .execute();
}

/** The engine and language of each segment, and the remaining time of running transcriptions. */
async function stretches(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("transcription")
    .addColumn("stretches", "jsonb")
    .addColumn("remaining_seconds", "double precision")
    .execute();
}

/** Paginated lists, uploads without a key, test events, restarted deliveries, and idempotent POSTs. */
async function contract(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("environment")
    .addColumn("allowed_origins", "jsonb", (c) => c.notNull().defaultTo(sql`'["*"]'::jsonb`))
    .execute();

  // Ids sort by creation time, so a page follows them; the index that begins with the time is not used.
  await db.schema.createIndex("video_environment_id").on("video").columns(["environment_id", "id"]).execute();
  await db.schema.dropIndex("video_environment").execute();
  await db.schema
    .createIndex("transcription_environment_status")
    .on("transcription")
    .columns(["environment_id", "status", "video_id"])
    .execute();

  await db.schema
    .alterTable("event")
    .alterColumn("transcription_id", (c) => c.dropNotNull())
    .execute();
  await db.schema
    .alterTable("event")
    .addColumn("endpoint_id", "text", (c) => c.references("webhook_endpoint.id").onDelete("cascade"))
    .execute();
  await db.schema
    .alterTable("event")
    .addCheckConstraint("event_about_one_thing", sql`(transcription_id is null) <> (endpoint_id is null)`)
    .execute();
  await db.schema.createIndex("event_endpoint").on("event").column("endpoint_id").execute();

  await db.schema
    .alterTable("delivery")
    .addColumn("attempts_before", "integer", (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema.createIndex("delivery_endpoint_id").on("delivery").columns(["endpoint_id", "id"]).execute();
  await db.schema
    .createIndex("webhook_endpoint_environment_id")
    .on("webhook_endpoint")
    .columns(["environment_id", "id"])
    .execute();
  await db.schema.dropIndex("webhook_endpoint_environment").execute();

  await db.schema
    .createTable("idempotency_key")
    .addColumn("environment_id", "text", (c) => c.notNull().references("environment.id").onDelete("cascade"))
    .addColumn("key", "text", (c) => c.notNull())
    .addColumn("fingerprint", "text", (c) => c.notNull())
    .addColumn("status", "integer", (c) => c.notNull())
    .addColumn("body", "text", (c) => c.notNull())
    .addColumn("created_at", "timestamptz", (c) => c.notNull())
    .addPrimaryKeyConstraint("idempotency_key_pkey", ["environment_id", "key"])
    .execute();
  await db.schema.createIndex("idempotency_key_created").on("idempotency_key").column("created_at").execute();
}
