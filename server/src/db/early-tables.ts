import { sql } from "kysely";
import { AppError } from "../lib/errors.ts";
import { MIGRATIONS } from "./migrations.ts";
import type { Db } from "./schema.ts";

/**
 * Migrations of early versions. A database to which all of them were applied can be converted to the initial schema.
 */
const EARLY_MIGRATIONS = [
  "0001_first",
  "0002_operators",
  "0003_stretches",
  "0004_contract",
  "0005_dashboard",
  "0006_attempts",
  "0007_search",
  "0008_turns",
  "0009_kept_stretches",
  "0010_housekeeping",
  "0011_deletions",
  "0013_audit",
  "0014_event_types",
  "0015_storage",
  "0016_session_hashes",
  "0017_audio_track",
  "0019_early_deliveries",
  "0020_upload_activity",
  "0021_fair_queueing",
  "0022_search_stop_words",
  "0023_file_formats",
] as const;

/** Converts the tables of the last early migration to those of `0001-initial-schema.sql`. */
const TO_INITIAL_SCHEMA = `
  alter table transcription drop column parked_at;
  alter table transcription rename column stretches to language_segments;
  alter table transcription rename column faults to failure_count;
  alter table transcription rename column losses to crash_count;
  update transcription set queued_at = created_at where queued_at is null;
  alter table transcription alter column queued_at set not null;

  alter table transcription_stretch rename to transcription_checkpoint;
  alter table transcription_checkpoint rename column answers to results;
  alter table transcription_checkpoint
    rename constraint transcription_stretch_pkey to transcription_checkpoint_pkey;
  alter table transcription_checkpoint rename constraint transcription_stretch_transcription_id_fkey
    to transcription_checkpoint_transcription_id_fkey;

  drop trigger delivery_event_type on delivery;
  drop function note_event_type();
  alter table delivery alter column event_type set not null;

  alter table operator alter column role drop default;

  alter table audit_entry rename to audit_event;
  alter table audit_event rename constraint audit_entry_pkey to audit_event_pkey;
  alter index audit_entry_action rename to audit_event_action;
  alter index audit_entry_actor_kind rename to audit_event_actor_kind;
  alter index audit_entry_actor rename to audit_event_actor;
  alter index audit_entry_at rename to audit_event_at;

  alter function note_change() rename to set_changed_at;
  alter function note_video_deletion() rename to record_video_deletion;

  -- PostgreSQL 18 names NOT NULL constraints and does not rename them with their tables and columns.
  do $$
  declare renamed record;
  begin
    for renamed in
      select conrelid::regclass as relation, conname as old_name,
        format('%s_%s_not_null', relname, attname) as new_name
      from pg_constraint
        join pg_class on pg_class.oid = conrelid
        join pg_attribute on attrelid = conrelid and attnum = conkey[1]
      where contype = 'n' and relnamespace = current_schema()::regnamespace
        and relname not like 'kysely%' and conname <> format('%s_%s_not_null', relname, attname)
    loop
      execute format('alter table %s rename constraint %I to %I',
        renamed.relation, renamed.old_name, renamed.new_name);
    end loop;
  end $$;

  delete from kysely_migration;
  insert into kysely_migration (name, timestamp)
  values ('${MIGRATIONS[0]}', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;

/**
 * Checks whether the applied migrations are the early ones.
 * @throws AppError `database_version_mismatch` if only some of them were applied
 */
export function areEarlyMigrations(names: readonly string[]): boolean {
  if (!names.includes(EARLY_MIGRATIONS[0])) return false;
  if (names.join() === EARLY_MIGRATIONS.join()) return true;
  throw new AppError(
    "database_version_mismatch",
    `The tables were created by an early version of Subtext (${names.at(-1)}), from which this version cannot upgrade. ` +
      `Start the last version with the migration ${EARLY_MIGRATIONS.at(-1)} once, then this one; see docs/upgrades.md.`,
  );
}

/** Converts the tables of an early version to the initial schema. Stop all processes of that version first. */
export async function adoptInitialSchema(db: Db): Promise<void> {
  await db.transaction().execute(async (tx) => {
    // Another process may be converting the tables too.
    await sql`lock table kysely_migration`.execute(tx);
    const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(tx);
    if (areEarlyMigrations(rows.map(({ name }) => name))) await sql.raw(TO_INITIAL_SCHEMA).execute(tx);
  });
}
