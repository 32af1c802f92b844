-- Actions on many videos. The videos are fixed when the operation is requested.
create table bulk_operation (
  id text primary key,
  environment_id text not null references environment on delete cascade,
  kind text not null check (kind in ('retry', 'delete', 'download')),
  state text not null check (state in ('queued', 'running', 'completed', 'canceled', 'failed')),
  -- Null for a download, which runs in a request.
  job_id uuid,
  requested_by text,
  matched integer not null,
  done integer not null default 0,
  failed integer not null default 0,
  skipped integer not null default 0,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index bulk_operation_environment on bulk_operation (environment_id, id);
create index bulk_operation_unfinished on bulk_operation (id) where finished_at is null;

-- `video_id` is not a foreign key, because the item of a deleted video must be counted.
create table bulk_operation_item (
  operation_id text not null references bulk_operation on delete cascade,
  video_id text not null,
  -- Null until the video is processed.
  outcome text check (outcome in ('done', 'failed', 'skipped')),
  primary key (operation_id, video_id)
);
