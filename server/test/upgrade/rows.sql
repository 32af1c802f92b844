-- Rows for both the early tables and the initial schema, referenced rows first.
insert into environment (id, name, ai_transcription, created_at, allowed_origins) values
  ('env_01jd0000000000000000000001', 'Production', true, '2024-11-20 08:00:00+00', '["https://app.example"]'),
  ('env_01jd0000000000000000000002', 'Staging', false, '2024-11-20 08:00:01.5+00', '["*"]');

insert into api_key (id, environment_id, name, key_hash, permissions, created_at, expires_at, last_used_at, revoked_at) values
  ('key_01jd0000000000000000000001', 'env_01jd0000000000000000000001', 'backend', repeat('f', 64),
   '["get_video", "create_video", "delete_video", "manage_webhooks"]', '2024-11-20 08:01:00+00', null, '2024-11-21 09:00:00+00', null),
  ('key_01jd0000000000000000000002', 'env_01jd0000000000000000000001', 'taken back', repeat('0', 64),
   '["get_video"]', '2024-11-20 08:01:01+00', '2030-01-01 00:00:00+00', null, '2024-11-20 09:00:00+00');

insert into video (id, environment_id, metadata, size_bytes, created_at, uploaded_at, ai_transcription, changed_at) values
  ('video_01jd0000000000000000000001', 'env_01jd0000000000000000000001', '{"filename": "holiday.mp4", "owner": "Zoë \"the\" O''Hara\\n"}', 12345678901, '2024-11-20 10:00:00+00', '2024-11-20 10:01:00+00', true, '2024-11-20 10:01:00.123456+00'),
  ('video_01jd0000000000000000000002', 'env_01jd0000000000000000000001', '{"filename": "waits.ogg"}', 39472, '2024-11-20 10:02:00+00', '2024-11-20 10:02:01+00', true, '2024-11-20 10:02:01+00'),
  ('video_01jd0000000000000000000003', 'env_01jd0000000000000000000001', '{"filename": "begun.ogg"}', 39472, '2024-11-20 10:03:00+00', '2024-11-20 10:03:01+00', true, '2024-11-20 10:03:01+00'),
  ('video_01jd0000000000000000000004', 'env_01jd0000000000000000000001', '{}', 100, '2024-11-20 10:04:00+00', '2024-11-20 10:04:01+00', true, '2024-11-20 10:04:01+00'),
  ('video_01jd0000000000000000000005', 'env_01jd0000000000000000000001', '{}', 100, '2024-11-20 10:05:00+00', '2024-11-20 10:05:01+00', true, '2024-11-20 10:05:01+00'),
  ('video_01jd0000000000000000000006', 'env_01jd0000000000000000000002', '{}', 100, '2024-11-20 10:06:00+00', '2024-11-20 10:06:01+00', false, '2024-11-20 10:06:01+00'),
  ('video_01jd0000000000000000000007', 'env_01jd0000000000000000000001', '{}', null, '2024-11-20 10:07:00+00', null, null, '2024-11-20 10:07:00+00');

insert into transcription (id, video_id, environment_id, status, job_id, attempt, language, word_count, duration, progress, file_prefix, failure_code, failure_message, skip_reason, engine, decoder, incomplete, stages, remaining_seconds, created_at, started_at, finished_at, queued_at) values
  ('transcription_01jd0000000000000000000001', 'video_01jd0000000000000000000001', 'env_01jd0000000000000000000001', 'COMPLETED', '00000000-0000-4000-8000-000000000001', 1, 'en', 2, 1.25, 1, 'transcripts/transcription_01jd0000000000000000000001/1', null, null, null, 'moonshine', 'ffmpeg', false, '{"probe": 0.1, "decode": 0.2, "voiceActivity": 0.1, "engine": 0.5, "total": 0.9}', null, '2024-11-20 10:01:00+00', '2024-11-20 10:01:01+00', '2024-11-20 10:01:02.345+00', '2024-11-20 10:01:02.345+00'),
  ('transcription_01jd0000000000000000000002', 'video_01jd0000000000000000000002', 'env_01jd0000000000000000000001', 'PENDING', '00000000-0000-4000-8000-000000000002', 0, null, null, null, 0, null, null, null, null, null, null, false, null, null, '2024-11-20 10:02:01+00', null, null, '2024-11-20 10:02:01+00'),
  ('transcription_01jd0000000000000000000003', 'video_01jd0000000000000000000003', 'env_01jd0000000000000000000001', 'PROCESSING', '00000000-0000-4000-8000-000000000003', 1, null, null, 10.5, 0.5, null, null, null, null, 'moonshine', 'ffmpeg', false, null, 12.5, '2024-11-20 10:03:01+00', '2024-11-20 10:03:02+00', null, '2024-11-20 10:03:02+00'),
  ('transcription_01jd0000000000000000000004', 'video_01jd0000000000000000000004', 'env_01jd0000000000000000000001', 'FAILED', '00000000-0000-4000-8000-000000000004', 1, null, null, null, 0, null, 'unreadable_media', 'The file is no recording.', null, null, null, false, null, null, '2024-11-20 10:04:01+00', '2024-11-20 10:04:02+00', '2024-11-20 10:04:03+00', '2024-11-20 10:04:03+00'),
  ('transcription_01jd0000000000000000000005', 'video_01jd0000000000000000000005', 'env_01jd0000000000000000000001', 'SKIPPED', '00000000-0000-4000-8000-000000000005', 1, null, null, 3.5, 0, null, null, null, 'no_audio_track', null, 'ffmpeg', false, null, null, '2024-11-20 10:05:01+00', '2024-11-20 10:05:02+00', '2024-11-20 10:05:03+00', '2024-11-20 10:05:03+00');

insert into webhook_endpoint (id, environment_id, url, event_types, secret, previous_secret, previous_secret_expires_at, metadata, created_at, failing_since, disabled_at, disabled_reason) values
  ('endpoint_01jd0000000000000000000001', 'env_01jd0000000000000000000001', 'http://127.0.0.1:9/hook', '["transcriptions.transcription.completed"]', 'whsec_Rmlyc3RSZWxlYXNlRmlyc3RSZWxlYXNl', 'whsec_QmVmb3JlQmVmb3JlQmVmb3JlQmVmb3Jl', '2024-11-21 00:00:00+00', '{"team": "video"}', '2024-11-20 08:02:00+00', '2024-11-20 10:05:00+00', null, null),
  ('endpoint_01jd0000000000000000000002', 'env_01jd0000000000000000000001', 'https://gone.example/hook', '["transcriptions.transcription.failed"]', 'whsec_R29uZUdvbmVHb25lR29uZUdvbmVHb25l', null, null, '{}', '2024-11-20 08:03:00+00', null, '2024-11-20 11:00:00+00', 'gone');

insert into event (id, environment_id, type, transcription_id, endpoint_id, detail, created_at) values
  ('event_01jd0000000000000000000001', 'env_01jd0000000000000000000001', 'transcriptions.transcription.completed', 'transcription_01jd0000000000000000000001', null, '{}', '2024-11-20 10:01:02.345+00'),
  ('event_01jd0000000000000000000002', 'env_01jd0000000000000000000001', 'transcriptions.transcription.failed', 'transcription_01jd0000000000000000000004', null, '{"duration": null, "error": {"code": "unreadable_media", "message": "The file is no recording."}}', '2024-11-20 10:04:03+00'),
  ('event_01jd0000000000000000000003', 'env_01jd0000000000000000000001', 'webhooks.endpoint.test', null, 'endpoint_01jd0000000000000000000001', '{}', '2024-11-20 10:10:00+00');

insert into delivery (id, event_id, event_type, endpoint_id, status, job_id, attempts, attempts_before, next_attempt_at, created_at, finished_at) values
  ('delivery_01jd0000000000000000000001', 'event_01jd0000000000000000000001', 'transcriptions.transcription.completed', 'endpoint_01jd0000000000000000000001', 'pending', '00000000-0000-4000-8000-000000000011', 1, 0, '2024-11-20 10:06:02+00', '2024-11-20 10:01:02.345+00', null),
  ('delivery_01jd0000000000000000000002', 'event_01jd0000000000000000000002', 'transcriptions.transcription.failed', 'endpoint_01jd0000000000000000000002', 'canceled', '00000000-0000-4000-8000-000000000012', 1, 0, null, '2024-11-20 10:04:03+00', '2024-11-20 11:00:00+00'),
  ('delivery_01jd0000000000000000000003', 'event_01jd0000000000000000000003', 'webhooks.endpoint.test', 'endpoint_01jd0000000000000000000001', 'succeeded', '00000000-0000-4000-8000-000000000013', 1, 0, null, '2024-11-20 10:10:00+00', '2024-11-20 10:10:01+00');

insert into delivery_attempt (delivery_id, number, attempted_at, latency_ms, status_code, failure, response_start) values
  ('delivery_01jd0000000000000000000001', 1, '2024-11-20 10:01:02.5+00', 31, 500, null, 'out of order'),
  ('delivery_01jd0000000000000000000002', 1, '2024-11-20 11:00:00+00', 12, 410, null, ''),
  ('delivery_01jd0000000000000000000003', 1, '2024-11-20 10:10:01+00', 8, 204, null, null);

insert into idempotency_key (environment_id, key, fingerprint, status, body, created_at) values
  ('env_01jd0000000000000000000001', 'order-1', repeat('a', 64), 201, '{"id":"video_01jd0000000000000000000007"}', '2024-11-20 10:07:00+00');

insert into service_secret (name, value) values
  ('url_signing', encode('signs the URLs of first release.', 'base64')),
  ('session', encode('signs sessions of first release.', 'base64')),
  ('installation', encode('the mark of the first release...', 'base64'));

insert into operator (id, name, email, email_verified, image, created_at, updated_at, role) values
  ('operator_01jd0000000000000000000001', 'Olive Owner', 'olive@subtext.example', true, null, '2024-11-20 08:00:00+00', '2024-11-20 08:00:00+00', 'owner'),
  ('operator_01jd0000000000000000000002', 'Vera Viewer', 'vera@subtext.example', true, null, '2024-11-20 09:00:00+00', '2024-11-20 09:00:00+00', 'viewer');

insert into operator_account (id, operator_id, provider_id, account_id, password_hash, created_at, updated_at) values
  ('operator_01jd0000000000000000000001', 'operator_01jd0000000000000000000001', 'credential', 'operator_01jd0000000000000000000001', 'a hash', '2024-11-20 08:00:00+00', '2024-11-20 08:00:00+00');

insert into operator_session (id, token, operator_id, expires_at, ip_address, user_agent, created_at, updated_at) values
  ('session_01jd0000000000000000000001', 'a token of the first release', 'operator_01jd0000000000000000000001', '2024-11-27 08:00:00+00', '127.0.0.1', 'curl', '2024-11-20 08:00:00+00', '2024-11-20 08:00:00+00');

insert into operator_verification (id, identifier, value, expires_at, created_at, updated_at) values
  ('verification_1', 'olive@subtext.example', 'x', '2024-11-20 09:00:00+00', '2024-11-20 08:00:00+00', '2024-11-20 08:00:00+00');

insert into operator_invitation (id, email, role, token_hash, created_at, expires_at) values
  ('invitation_01jd0000000000000000000001', 'ivy@subtext.example', 'viewer', repeat('b', 64), '2024-11-20 09:30:00+00', '2099-01-01 00:00:00+00');
