-- Orders and filters of the video list. Names are cut, because an index entry is limited to 2.7 kB.
create index video_environment_name on video
  (environment_id, (left(lower(coalesce(metadata->>'filename', metadata->>'name', id)), 200) collate "C"), id);
create index transcription_environment_duration on transcription (environment_id, duration, video_id);
create index transcription_environment_words on transcription (environment_id, word_count, video_id);
create index transcription_environment_language on transcription (environment_id, language, video_id);
