-- The video whose recording this one is a copy of. Not a foreign key, because the copy outlives its source.
alter table video add column source_video_id text;
