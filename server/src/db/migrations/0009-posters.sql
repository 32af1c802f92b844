-- The picture of a recording in lists of the dashboard. It is made after the transcription has ended.
alter table transcription
  -- The only job that may make the poster; null if none was enqueued.
  add column poster_job_id uuid,
  -- When the job ended, even if it made no poster; null until then.
  add column poster_ended_at timestamptz,
  -- Storage key prefix of a frame of the video; null if there is none.
  add column poster_prefix text,
  -- Loudness over time of a recording without video, as hexadecimal digits.
  add column poster_levels text;

create index transcription_poster_unfinished on transcription (poster_job_id)
  where poster_job_id is not null and poster_ended_at is null;
