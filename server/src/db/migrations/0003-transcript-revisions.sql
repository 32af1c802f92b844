-- `file_prefix` stays that of the recognized original, so that a process of the previous release does not delete its
-- files. The current files are at `edited_prefix`, if it is not null.
alter table transcription
  add column edited_prefix text,
  -- Number of the current revision; 0 is the recognized original.
  add column revision integer not null default 0,
  -- Number of saves. Together with the revision, it identifies the current words.
  add column edit_version integer not null default 0;

-- A transcript that nobody has changed has no rows. The first change also adds revision 0, the recognized original.
create table transcript_revision (
  transcription_id text not null references transcription on delete cascade,
  number integer not null check (number >= 0),
  file_prefix text not null,
  sitting text,
  actor_kind text,
  actor_id text,
  actor_name text,
  word_count integer not null,
  changed_words integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (transcription_id, number)
);

-- When to send the event about the changes of a transcript; see `corrections/updated-event.ts`.
create table transcript_update (
  transcription_id text primary key references transcription on delete cascade,
  -- Null if every change was announced.
  job_id uuid,
  first_edit_at timestamptz not null,
  last_edit_at timestamptz not null,
  sent_at timestamptz
);
create index transcript_update_waiting on transcript_update (transcription_id) where job_id is not null;
