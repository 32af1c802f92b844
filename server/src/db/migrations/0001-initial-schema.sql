-- Ids are TypeIDs, which sort by creation time, so lists are paginated by id. The files in `tables/` describe the columns.

create function set_changed_at() returns trigger language plpgsql as $$
begin
  new.changed_at := clock_timestamp();
  return new;
end $$;

-- Runs in the deleting transaction, so that the files of deleted rows are removed, and no others.
create function write_tombstone() returns trigger language plpgsql as $$
begin
  insert into tombstone (id, deleted_at) values (old.id, clock_timestamp()) on conflict do nothing;
  return null;
end $$;

-- Clients read deletions within seconds, so each deletion also removes older entries. Skips entries that others have
-- locked.
create function record_video_deletion() returns trigger language plpgsql as $$
begin
  insert into video_deletion (environment_id, video_id, deleted_at)
  values (old.environment_id, old.id, clock_timestamp());
  delete from video_deletion where ctid = any (array(
    select ctid from video_deletion where deleted_at < clock_timestamp() - interval '10 minutes'
    order by deleted_at limit 20 for update skip locked
  ));
  return null;
end $$;

-- Environments, keys and secrets

create table environment (
  id text primary key,
  name text not null unique,
  ai_transcription boolean not null,
  allowed_origins jsonb not null default '["*"]',
  retention_days integer check (retention_days > 0),
  retention_deletes text check (retention_deletes in ('recording', 'video')),
  created_at timestamptz not null,
  constraint environment_retention_whole check ((retention_days is null) = (retention_deletes is null))
);

create table api_key (
  id text primary key,
  environment_id text not null references environment on delete cascade,
  name text not null,
  key_hash text not null,
  permissions jsonb not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index api_key_environment on api_key (environment_id);

create table idempotency_key (
  environment_id text not null references environment on delete cascade,
  key text not null,
  fingerprint text not null,
  status integer not null,
  body text not null,
  created_at timestamptz not null,
  primary key (environment_id, key)
);
create index idempotency_key_created on idempotency_key (created_at);

create table service_secret (
  name text primary key,
  value text not null
);

-- Videos and their transcriptions

create table video (
  id text primary key,
  environment_id text not null references environment,
  metadata jsonb not null,
  size_bytes bigint,
  ai_transcription boolean,
  created_at timestamptz not null,
  upload_active_at timestamptz not null default now(),
  uploaded_at timestamptz,
  recording_deleted_at timestamptz,
  changed_at timestamptz not null default now()
);
create index video_environment_id on video (environment_id, id);
create index video_environment_changed on video (environment_id, changed_at);
create index video_environment_uploading on video (environment_id, id) where uploaded_at is null;
create index video_environment_untranscribed on video (environment_id, id) where ai_transcription is false;
create index video_uploading on video (created_at) where uploaded_at is null;
-- Separate indexes for videos with and without a recording, so that videos whose recording was deleted are not read
-- again.
create index video_with_recording on video (environment_id, uploaded_at, id)
  where recording_deleted_at is null and uploaded_at is not null;
create index video_without_recording on video (environment_id, uploaded_at, id)
  where recording_deleted_at is not null;
create trigger video_inserted before insert on video for each row execute function set_changed_at();
-- Upload activity does not count as a change, so that it does not cause updates of the search index, open lists or
-- backups.
create trigger video_changed before update on video
  for each row when (old.upload_active_at = new.upload_active_at) execute function set_changed_at();
create trigger video_deleted after delete on video for each row execute function record_video_deletion();
create trigger video_tombstone after delete on video for each row execute function write_tombstone();
create trigger video_recording_tombstone after update of recording_deleted_at on video
  for each row when (old.recording_deleted_at is null and new.recording_deleted_at is not null)
  execute function write_tombstone();

-- Deletions that open video lists must show.
create table video_deletion (
  environment_id text not null,
  video_id text not null,
  deleted_at timestamptz not null
);
create index video_deletion_environment on video_deletion (environment_id, deleted_at);
create index video_deletion_time on video_deletion (deleted_at);

create table transcription (
  id text primary key,
  video_id text not null unique references video on delete cascade,
  environment_id text not null references environment,
  status text not null check (status in ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED', 'SKIPPED')),
  job_id uuid not null,
  attempt integer not null default 0,
  failure_count integer not null default 0,
  crash_count integer not null default 0,
  language text,
  word_count integer,
  duration double precision,
  progress double precision not null default 0,
  remaining_seconds double precision,
  file_prefix text,
  file_formats jsonb not null default '["vtt", "json", "txt"]',
  waveform_prefix text,
  failure_code text,
  failure_message text,
  skip_reason text,
  incomplete boolean not null default false,
  audio_track integer,
  engine text,
  decoder text,
  language_segments jsonb,
  stages jsonb,
  created_at timestamptz not null,
  queued_at timestamptz not null,
  due_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  changed_at timestamptz not null default now(),
  constraint transcription_files_when_completed check ((status = 'COMPLETED') = (file_prefix is not null))
);
create index transcription_status on transcription (status, created_at);
create index transcription_environment_status on transcription (environment_id, status, video_id);
create index transcription_environment_changed on transcription (environment_id, changed_at);
create index transcription_job on transcription (job_id) where status in ('PENDING', 'PROCESSING');
create trigger transcription_changed before insert or update on transcription
  for each row execute function set_changed_at();
create trigger transcription_tombstone after delete on transcription
  for each row execute function write_tombstone();

create table transcription_attempt (
  transcription_id text not null references transcription on delete cascade,
  number integer not null,
  queued_at timestamptz not null,
  started_at timestamptz not null,
  decoded_at timestamptz,
  transcribed_at timestamptz,
  ended_at timestamptz,
  outcome text
    check (outcome in ('completed', 'skipped', 'failed', 'returned', 'handed_back', 'yielded', 'lost')),
  failure_code text,
  failure_message text,
  retry_at timestamptz,
  primary key (transcription_id, number),
  constraint transcription_attempt_ended check ((ended_at is null) = (outcome is null))
);

create table transcription_checkpoint (
  transcription_id text not null references transcription on delete cascade,
  attempt integer not null,
  number integer not null,
  settled_seconds double precision not null,
  results text not null,
  primary key (transcription_id, attempt, number)
);

-- Start-time fair queueing; see `queue/fair-queueing.ts`. Not columns of `environment`, because every upload locks that
-- row.

create table environment_queue (
  environment_id text primary key references environment on delete cascade,
  weight integer not null default 1 check (weight between 1 and 100),
  finish_tag bigint not null default 0,
  retag_from bigint,
  work_seconds_per_byte double precision
);

create table queue_clock (
  "only" boolean primary key default true check ("only"),
  virtual_time bigint not null default 0,
  base bigint not null default 0
);
insert into queue_clock default values;

-- Webhooks

create table webhook_endpoint (
  id text primary key,
  environment_id text not null references environment on delete cascade,
  url text not null,
  event_types jsonb not null,
  secret text not null,
  previous_secret text,
  previous_secret_expires_at timestamptz,
  metadata jsonb not null,
  created_at timestamptz not null,
  failing_since timestamptz,
  disabled_at timestamptz,
  disabled_reason text
);
create index webhook_endpoint_environment_id on webhook_endpoint (environment_id, id);

create table event (
  id text primary key,
  environment_id text not null references environment,
  type text not null,
  transcription_id text references transcription on delete cascade,
  endpoint_id text references webhook_endpoint on delete cascade,
  detail jsonb not null,
  created_at timestamptz not null,
  constraint event_about_one_thing check ((transcription_id is null) <> (endpoint_id is null))
);
create index event_transcription on event (transcription_id);
create index event_endpoint on event (endpoint_id);

create table delivery (
  id text primary key,
  event_id text not null references event on delete cascade,
  -- Copied from the event, so that deliveries of a rare type are found without reading all events.
  event_type text not null,
  endpoint_id text not null references webhook_endpoint on delete cascade,
  status text not null check (status in ('pending', 'succeeded', 'failed', 'canceled')),
  job_id uuid not null,
  attempts integer not null default 0,
  attempts_before integer not null default 0,
  early_attempts integer not null default 0,
  next_attempt_at timestamptz,
  held_until timestamptz,
  created_at timestamptz not null,
  finished_at timestamptz,
  constraint delivery_once_per_endpoint unique (event_id, endpoint_id)
);
create index delivery_endpoint on delivery (endpoint_id, created_at);
create index delivery_endpoint_id on delivery (endpoint_id, id);
create index delivery_endpoint_status on delivery (endpoint_id, status, id);
create index delivery_endpoint_event on delivery (endpoint_id, event_type, status, id);
-- Contains only deliveries that have failed, so it is empty for a working endpoint, however many deliveries are queued.
create index delivery_waiting on delivery (endpoint_id, id) where status = 'pending' and attempts > 0;

create table delivery_attempt (
  delivery_id text not null references delivery on delete cascade,
  number integer not null,
  attempted_at timestamptz not null,
  latency_ms integer not null,
  status_code integer,
  failure text,
  response_start text,
  primary key (delivery_id, number)
);

-- Operators. better-auth requires these columns; `operators.ts` maps their names.

create table operator (
  id text primary key,
  name text not null,
  email text not null unique,
  email_verified boolean not null,
  role text not null check (role in ('owner', 'viewer')),
  image text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table operator_account (
  id text primary key,
  operator_id text not null references operator on delete cascade,
  provider_id text not null,
  account_id text not null,
  password_hash text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint operator_account_once unique (provider_id, account_id)
);
create index operator_account_operator on operator_account (operator_id);

create table operator_session (
  id text primary key,
  token text not null unique,
  operator_id text not null references operator on delete cascade,
  expires_at timestamptz not null,
  ip_address text,
  user_agent text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index operator_session_operator on operator_session (operator_id);

create table operator_verification (
  id text primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table operator_invitation (
  id text primary key,
  email text not null unique,
  role text not null check (role in ('owner', 'viewer')),
  token_hash text not null unique,
  created_at timestamptz not null,
  expires_at timestamptz not null
);

-- Without foreign keys: an audit event outlives the resources that it names.
create table audit_event (
  id text primary key,
  at timestamptz not null,
  action text not null,
  actor_kind text not null,
  actor_id text,
  actor_name text,
  address text,
  environment_id text,
  environment_name text,
  subject_id text,
  subject_name text,
  detail jsonb not null
);
create index audit_event_action on audit_event (action, id);
create index audit_event_actor_kind on audit_event (actor_kind, id);
create index audit_event_actor on audit_event (actor_id, id);
create index audit_event_at on audit_event (at);

-- Search

create table search_language (
  environment_id text not null references environment on delete cascade,
  language text not null,
  dictionary text not null,
  primary key (environment_id, language, dictionary)
);

create table search_shard (
  number integer generated always as identity primary key,
  environment_id text not null references environment on delete cascade,
  passage_count integer not null
);
create index search_shard_environment on search_shard (environment_id, number);

create table search_document (
  number integer generated always as identity primary key,
  transcription_id text not null unique references transcription on delete cascade,
  environment_id text not null references environment on delete cascade,
  job_id uuid not null,
  language text,
  dictionary text,
  shard integer references search_shard,
  indexed_at timestamptz
);
create index search_document_waiting on search_document (number) where indexed_at is null;

create table search_passage (
  document integer not null references search_document on delete cascade,
  ordinal integer not null,
  start_ms integer not null,
  end_ms integer not null,
  text text not null,
  lexemes tsvector not null,
  primary key (document, ordinal)
);
-- Without GIN's pending list, which every search would have to scan.
create index search_passage_lexemes on search_passage using gin (lexemes) with (fastupdate = off);

-- Stored files

create table missing_file (
  video_id text not null references video on delete cascade,
  part text not null check (part in ('recording', 'transcript')),
  noticed_at timestamptz not null,
  primary key (video_id, part)
);

create table file_check (
  "only" boolean primary key default true check ("only"),
  position text not null,
  round_ended_at timestamptz
);

create table tombstone (
  id text primary key,
  deleted_at timestamptz not null
);
create index tombstone_deleted on tombstone (deleted_at);

create table unknown_file (
  key text primary key,
  store text not null check (store in ('recordings', 'transcripts')),
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  bytes bigint not null
);

create table store_record (
  "only" boolean primary key default true check ("only"),
  store_id text not null,
  owner text not null,
  home text not null,
  generation bigint not null,
  token text not null,
  advanced_at timestamptz not null
);
