CREATE FUNCTION public.note_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
      new.changed_at := clock_timestamp();
      return new;
    end $$;
--;
CREATE TABLE public.api_key (
    id text NOT NULL,
    environment_id text NOT NULL,
    name text NOT NULL,
    key_hash text NOT NULL,
    permissions jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone
);
--;
CREATE TABLE public.delivery (
    id text NOT NULL,
    event_id text NOT NULL,
    endpoint_id text NOT NULL,
    status text NOT NULL,
    job_id uuid NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    attempts_before integer DEFAULT 0 NOT NULL,
    CONSTRAINT delivery_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'canceled'::text])))
);
--;
CREATE TABLE public.delivery_attempt (
    delivery_id text NOT NULL,
    number integer NOT NULL,
    attempted_at timestamp with time zone NOT NULL,
    latency_ms integer NOT NULL,
    status_code integer,
    failure text,
    response_start text
);
--;
CREATE TABLE public.environment (
    id text NOT NULL,
    name text NOT NULL,
    ai_transcription boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    allowed_origins jsonb DEFAULT '["*"]'::jsonb NOT NULL
);
--;
CREATE TABLE public.event (
    id text NOT NULL,
    environment_id text NOT NULL,
    type text NOT NULL,
    transcription_id text,
    detail jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    endpoint_id text,
    CONSTRAINT event_about_one_thing CHECK (((transcription_id IS NULL) <> (endpoint_id IS NULL)))
);
--;
CREATE TABLE public.idempotency_key (
    environment_id text NOT NULL,
    key text NOT NULL,
    fingerprint text NOT NULL,
    status integer NOT NULL,
    body text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
--;
CREATE TABLE public.kysely_migration (
    name character varying(255) NOT NULL,
    "timestamp" character varying(255) NOT NULL
);
--;
CREATE TABLE public.kysely_migration_lock (
    id character varying(255) NOT NULL,
    is_locked integer DEFAULT 0 NOT NULL
);
--;
CREATE TABLE public.operator (
    id text NOT NULL,
    name text NOT NULL,
    email text NOT NULL,
    email_verified boolean NOT NULL,
    image text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    role text DEFAULT 'owner'::text NOT NULL,
    CONSTRAINT operator_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'viewer'::text])))
);
--;
CREATE TABLE public.operator_account (
    id text NOT NULL,
    operator_id text NOT NULL,
    provider_id text NOT NULL,
    account_id text NOT NULL,
    password_hash text,
    access_token text,
    refresh_token text,
    id_token text,
    access_token_expires_at timestamp with time zone,
    refresh_token_expires_at timestamp with time zone,
    scope text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
--;
CREATE TABLE public.operator_invitation (
    id text NOT NULL,
    email text NOT NULL,
    role text NOT NULL,
    token_hash text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT operator_invitation_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'viewer'::text])))
);
--;
CREATE TABLE public.operator_session (
    id text NOT NULL,
    token text NOT NULL,
    operator_id text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ip_address text,
    user_agent text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
--;
CREATE TABLE public.operator_verification (
    id text NOT NULL,
    identifier text NOT NULL,
    value text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
--;
CREATE TABLE public.service_secret (
    name text NOT NULL,
    value text NOT NULL
);
--;
CREATE TABLE public.transcription (
    id text NOT NULL,
    video_id text NOT NULL,
    environment_id text NOT NULL,
    status text NOT NULL,
    job_id uuid NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    faults integer DEFAULT 0 NOT NULL,
    losses integer DEFAULT 0 NOT NULL,
    language text,
    word_count integer,
    duration double precision,
    progress double precision DEFAULT 0 NOT NULL,
    file_prefix text,
    failure_code text,
    failure_message text,
    skip_reason text,
    engine text,
    decoder text,
    incomplete boolean DEFAULT false NOT NULL,
    stages jsonb,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    stretches jsonb,
    remaining_seconds double precision,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT transcription_files_when_completed CHECK (((status = 'COMPLETED'::text) = (file_prefix IS NOT NULL))),
    CONSTRAINT transcription_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'PROCESSING'::text, 'COMPLETED'::text, 'FAILED'::text, 'SKIPPED'::text])))
);
--;
CREATE TABLE public.video (
    id text NOT NULL,
    environment_id text NOT NULL,
    metadata jsonb NOT NULL,
    size_bytes bigint,
    created_at timestamp with time zone NOT NULL,
    uploaded_at timestamp with time zone,
    ai_transcription boolean,
    changed_at timestamp with time zone DEFAULT now() NOT NULL
);
--;
CREATE TABLE public.webhook_endpoint (
    id text NOT NULL,
    environment_id text NOT NULL,
    url text NOT NULL,
    event_types jsonb NOT NULL,
    secret text NOT NULL,
    previous_secret text,
    previous_secret_expires_at timestamp with time zone,
    metadata jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    failing_since timestamp with time zone,
    disabled_at timestamp with time zone,
    disabled_reason text
);
--;
INSERT INTO public.api_key (id, environment_id, name, key_hash, permissions, created_at, expires_at, last_used_at, revoked_at) VALUES ('key_01jd0000000000000000000001', 'env_01jd0000000000000000000001', 'backend', 'dd93a6c2cb7bc702f18e5e2ca035712ab960d7736752a27e3be7fa5ae5d6d6ca', '["get_video", "create_video", "delete_video", "manage_webhooks"]', '2024-11-20 08:01:00+00', NULL, '2024-11-21 09:00:00+00', NULL);
--;
INSERT INTO public.api_key (id, environment_id, name, key_hash, permissions, created_at, expires_at, last_used_at, revoked_at) VALUES ('key_01jd0000000000000000000002', 'env_01jd0000000000000000000001', 'taken back', '0000000000000000000000000000000000000000000000000000000000000000', '["get_video"]', '2024-11-20 08:01:01+00', '2030-01-01 00:00:00+00', NULL, '2024-11-20 09:00:00+00');
--;
INSERT INTO public.delivery (id, event_id, endpoint_id, status, job_id, attempts, next_attempt_at, created_at, finished_at, attempts_before) VALUES ('delivery_01jd0000000000000000000001', 'event_01jd0000000000000000000001', 'endpoint_01jd0000000000000000000001', 'pending', '00000000-0000-4000-8000-000000000011', 1, '2024-11-20 10:06:02+00', '2024-11-20 10:01:02.345+00', NULL, 0);
--;
INSERT INTO public.delivery (id, event_id, endpoint_id, status, job_id, attempts, next_attempt_at, created_at, finished_at, attempts_before) VALUES ('delivery_01jd0000000000000000000002', 'event_01jd0000000000000000000002', 'endpoint_01jd0000000000000000000002', 'canceled', '00000000-0000-4000-8000-000000000012', 1, NULL, '2024-11-20 10:04:03+00', '2024-11-20 11:00:00+00', 0);
--;
INSERT INTO public.delivery (id, event_id, endpoint_id, status, job_id, attempts, next_attempt_at, created_at, finished_at, attempts_before) VALUES ('delivery_01jd0000000000000000000003', 'event_01jd0000000000000000000003', 'endpoint_01jd0000000000000000000001', 'succeeded', '00000000-0000-4000-8000-000000000013', 1, NULL, '2024-11-20 10:10:00+00', '2024-11-20 10:10:01+00', 0);
--;
INSERT INTO public.delivery_attempt (delivery_id, number, attempted_at, latency_ms, status_code, failure, response_start) VALUES ('delivery_01jd0000000000000000000001', 1, '2024-11-20 10:01:02.5+00', 31, 500, NULL, 'out of order');
--;
INSERT INTO public.delivery_attempt (delivery_id, number, attempted_at, latency_ms, status_code, failure, response_start) VALUES ('delivery_01jd0000000000000000000002', 1, '2024-11-20 11:00:00+00', 12, 410, NULL, '');
--;
INSERT INTO public.delivery_attempt (delivery_id, number, attempted_at, latency_ms, status_code, failure, response_start) VALUES ('delivery_01jd0000000000000000000003', 1, '2024-11-20 10:10:01+00', 8, 204, NULL, NULL);
--;
INSERT INTO public.environment (id, name, ai_transcription, created_at, allowed_origins) VALUES ('env_01jd0000000000000000000001', 'Production', true, '2024-11-20 08:00:00+00', '["https://app.example"]');
--;
INSERT INTO public.environment (id, name, ai_transcription, created_at, allowed_origins) VALUES ('env_01jd0000000000000000000002', 'Staging', false, '2024-11-20 08:00:01.5+00', '["*"]');
--;
INSERT INTO public.event (id, environment_id, type, transcription_id, detail, created_at, endpoint_id) VALUES ('event_01jd0000000000000000000001', 'env_01jd0000000000000000000001', 'transcriptions.transcription.completed', 'transcription_01jd0000000000000000000001', '{}', '2024-11-20 10:01:02.345+00', NULL);
--;
INSERT INTO public.event (id, environment_id, type, transcription_id, detail, created_at, endpoint_id) VALUES ('event_01jd0000000000000000000002', 'env_01jd0000000000000000000001', 'transcriptions.transcription.failed', 'transcription_01jd0000000000000000000004', '{"error": {"code": "unreadable_media", "message": "The file is no recording."}, "duration": null}', '2024-11-20 10:04:03+00', NULL);
--;
INSERT INTO public.event (id, environment_id, type, transcription_id, detail, created_at, endpoint_id) VALUES ('event_01jd0000000000000000000003', 'env_01jd0000000000000000000001', 'webhooks.endpoint.test', NULL, '{}', '2024-11-20 10:10:00+00', 'endpoint_01jd0000000000000000000001');
--;
INSERT INTO public.idempotency_key (environment_id, key, fingerprint, status, body, created_at) VALUES ('env_01jd0000000000000000000001', 'order-1', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 201, '{"id":"video_01jd0000000000000000000007"}', '2024-11-20 10:07:00+00');
--;
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0001_first', '2024-11-20T07:59:00.000Z');
--;
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0002_operators', '2024-11-20T07:59:00.000Z');
--;
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0003_stretches', '2024-11-20T07:59:00.000Z');
--;
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0004_contract', '2024-11-20T07:59:00.000Z');
--;
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0005_dashboard', '2024-11-20T07:59:00.000Z');
--;
INSERT INTO public.kysely_migration_lock (id, is_locked) VALUES ('migration_lock', 0);
--;
INSERT INTO public.operator (id, name, email, email_verified, image, created_at, updated_at, role) VALUES ('operator_01jd0000000000000000000001', 'Olive Owner', 'olive@subtext.example', true, NULL, '2024-11-20 08:00:00+00', '2024-11-20 08:00:00+00', 'owner');
--;
INSERT INTO public.operator (id, name, email, email_verified, image, created_at, updated_at, role) VALUES ('operator_01jd0000000000000000000002', 'Vera Viewer', 'vera@subtext.example', true, NULL, '2024-11-20 09:00:00+00', '2024-11-20 09:00:00+00', 'viewer');
--;
INSERT INTO public.operator_account (id, operator_id, provider_id, account_id, password_hash, access_token, refresh_token, id_token, access_token_expires_at, refresh_token_expires_at, scope, created_at, updated_at) VALUES ('operator_01jd0000000000000000000001', 'operator_01jd0000000000000000000001', 'credential', 'operator_01jd0000000000000000000001', '28a8af7dea901669cee49e9a6459d730:fc3dc1dd0d5d5521ad24e483ff6d3d82f6629b762ad8efc944761d258a4bbcda9788dc8cca3f2da9bd0788e458217b5e6749038d36f30a58103ad74256657a2d', NULL, NULL, NULL, NULL, NULL, NULL, '2024-11-20 08:00:00+00', '2024-11-20 08:00:00+00');
--;
INSERT INTO public.operator_invitation (id, email, role, token_hash, created_at, expires_at) VALUES ('invitation_01jd0000000000000000000001', 'ivy@subtext.example', 'viewer', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', '2024-11-20 09:30:00+00', '2099-01-01 00:00:00+00');
--;
INSERT INTO public.operator_session (id, token, operator_id, expires_at, ip_address, user_agent, created_at, updated_at) VALUES ('session_01jd0000000000000000000001', 'a token of the first release', 'operator_01jd0000000000000000000001', '2024-11-27 08:00:00+00', '127.0.0.1', 'curl', '2024-11-20 08:00:00+00', '2024-11-20 08:00:00+00');
--;
INSERT INTO public.operator_verification (id, identifier, value, expires_at, created_at, updated_at) VALUES ('verification_1', 'olive@subtext.example', 'x', '2024-11-20 09:00:00+00', '2024-11-20 08:00:00+00', '2024-11-20 08:00:00+00');
--;
INSERT INTO public.service_secret (name, value) VALUES ('url_signing', 'c2lnbnMgdGhlIFVSTHMgb2YgZmlyc3QgcmVsZWFzZS4=');
--;
INSERT INTO public.service_secret (name, value) VALUES ('session', 'c2lnbnMgc2Vzc2lvbnMgb2YgZmlyc3QgcmVsZWFzZS4=');
--;
INSERT INTO public.service_secret (name, value) VALUES ('installation', 'dGhlIG1hcmsgb2YgdGhlIGZpcnN0IHJlbGVhc2UuLi4=');
--;
INSERT INTO public.transcription (id, video_id, environment_id, status, job_id, attempt, faults, losses, language, word_count, duration, progress, file_prefix, failure_code, failure_message, skip_reason, engine, decoder, incomplete, stages, created_at, started_at, finished_at, stretches, remaining_seconds, changed_at) VALUES ('transcription_01jd0000000000000000000001', 'video_01jd0000000000000000000001', 'env_01jd0000000000000000000001', 'COMPLETED', '00000000-0000-4000-8000-000000000001', 1, 0, 0, 'en', 2, 1.25, 1, 'transcripts/transcription_01jd0000000000000000000001/1', NULL, NULL, NULL, 'moonshine', 'ffmpeg', false, '{"probe": 0.1, "total": 0.9, "decode": 0.2, "engine": 0.5, "voiceActivity": 0.1}', '2024-11-20 10:01:00+00', '2024-11-20 10:01:01+00', '2024-11-20 10:01:02.345+00', '[{"end": 1.25, "start": 0, "words": 2, "engine": "moonshine-tiny", "language": "en", "probability": 0.9}]', NULL, '2024-11-20 10:01:02.345+00');
--;
INSERT INTO public.transcription (id, video_id, environment_id, status, job_id, attempt, faults, losses, language, word_count, duration, progress, file_prefix, failure_code, failure_message, skip_reason, engine, decoder, incomplete, stages, created_at, started_at, finished_at, stretches, remaining_seconds, changed_at) VALUES ('transcription_01jd0000000000000000000002', 'video_01jd0000000000000000000002', 'env_01jd0000000000000000000001', 'PENDING', '00000000-0000-4000-8000-000000000002', 0, 0, 0, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, false, NULL, '2024-11-20 10:02:01+00', NULL, NULL, NULL, NULL, '2024-11-20 10:02:01+00');
--;
INSERT INTO public.transcription (id, video_id, environment_id, status, job_id, attempt, faults, losses, language, word_count, duration, progress, file_prefix, failure_code, failure_message, skip_reason, engine, decoder, incomplete, stages, created_at, started_at, finished_at, stretches, remaining_seconds, changed_at) VALUES ('transcription_01jd0000000000000000000003', 'video_01jd0000000000000000000003', 'env_01jd0000000000000000000001', 'PROCESSING', '00000000-0000-4000-8000-000000000003', 1, 0, 0, NULL, NULL, 10.5, 0.5, NULL, NULL, NULL, NULL, 'moonshine', 'ffmpeg', false, NULL, '2024-11-20 10:03:01+00', '2024-11-20 10:03:02+00', NULL, NULL, 12.5, '2024-11-20 10:03:02+00');
--;
INSERT INTO public.transcription (id, video_id, environment_id, status, job_id, attempt, faults, losses, language, word_count, duration, progress, file_prefix, failure_code, failure_message, skip_reason, engine, decoder, incomplete, stages, created_at, started_at, finished_at, stretches, remaining_seconds, changed_at) VALUES ('transcription_01jd0000000000000000000004', 'video_01jd0000000000000000000004', 'env_01jd0000000000000000000001', 'FAILED', '00000000-0000-4000-8000-000000000004', 1, 0, 0, NULL, NULL, NULL, 0, NULL, 'unreadable_media', 'The file is no recording.', NULL, NULL, NULL, false, NULL, '2024-11-20 10:04:01+00', '2024-11-20 10:04:02+00', '2024-11-20 10:04:03+00', NULL, NULL, '2024-11-20 10:04:03+00');
--;
INSERT INTO public.transcription (id, video_id, environment_id, status, job_id, attempt, faults, losses, language, word_count, duration, progress, file_prefix, failure_code, failure_message, skip_reason, engine, decoder, incomplete, stages, created_at, started_at, finished_at, stretches, remaining_seconds, changed_at) VALUES ('transcription_01jd0000000000000000000005', 'video_01jd0000000000000000000005', 'env_01jd0000000000000000000001', 'SKIPPED', '00000000-0000-4000-8000-000000000005', 1, 0, 0, NULL, NULL, 3.5, 0, NULL, NULL, NULL, 'no_audio_track', NULL, 'ffmpeg', false, NULL, '2024-11-20 10:05:01+00', '2024-11-20 10:05:02+00', '2024-11-20 10:05:03+00', NULL, NULL, '2024-11-20 10:05:03+00');
--;
INSERT INTO public.video (id, environment_id, metadata, size_bytes, created_at, uploaded_at, ai_transcription, changed_at) VALUES ('video_01jd0000000000000000000001', 'env_01jd0000000000000000000001', '{"owner": "Zoë \"the\" O''Hara\\n", "filename": "holiday.mp4"}', 12345678901, '2024-11-20 10:00:00+00', '2024-11-20 10:01:00+00', true, '2024-11-20 10:01:00.123456+00');
--;
INSERT INTO public.video (id, environment_id, metadata, size_bytes, created_at, uploaded_at, ai_transcription, changed_at) VALUES ('video_01jd0000000000000000000002', 'env_01jd0000000000000000000001', '{"filename": "waits.ogg"}', 39472, '2024-11-20 10:02:00+00', '2024-11-20 10:02:01+00', true, '2024-11-20 10:02:01+00');
--;
INSERT INTO public.video (id, environment_id, metadata, size_bytes, created_at, uploaded_at, ai_transcription, changed_at) VALUES ('video_01jd0000000000000000000003', 'env_01jd0000000000000000000001', '{"filename": "begun.ogg"}', 39472, '2024-11-20 10:03:00+00', '2024-11-20 10:03:01+00', true, '2024-11-20 10:03:01+00');
--;
INSERT INTO public.video (id, environment_id, metadata, size_bytes, created_at, uploaded_at, ai_transcription, changed_at) VALUES ('video_01jd0000000000000000000004', 'env_01jd0000000000000000000001', '{}', 100, '2024-11-20 10:04:00+00', '2024-11-20 10:04:01+00', true, '2024-11-20 10:04:01+00');
--;
INSERT INTO public.video (id, environment_id, metadata, size_bytes, created_at, uploaded_at, ai_transcription, changed_at) VALUES ('video_01jd0000000000000000000005', 'env_01jd0000000000000000000001', '{}', 100, '2024-11-20 10:05:00+00', '2024-11-20 10:05:01+00', true, '2024-11-20 10:05:01+00');
--;
INSERT INTO public.video (id, environment_id, metadata, size_bytes, created_at, uploaded_at, ai_transcription, changed_at) VALUES ('video_01jd0000000000000000000006', 'env_01jd0000000000000000000002', '{}', 100, '2024-11-20 10:06:00+00', '2024-11-20 10:06:01+00', false, '2024-11-20 10:06:01+00');
--;
INSERT INTO public.video (id, environment_id, metadata, size_bytes, created_at, uploaded_at, ai_transcription, changed_at) VALUES ('video_01jd0000000000000000000007', 'env_01jd0000000000000000000001', '{}', NULL, '2024-11-20 10:07:00+00', NULL, NULL, '2024-11-20 10:07:00+00');
--;
INSERT INTO public.webhook_endpoint (id, environment_id, url, event_types, secret, previous_secret, previous_secret_expires_at, metadata, created_at, failing_since, disabled_at, disabled_reason) VALUES ('endpoint_01jd0000000000000000000001', 'env_01jd0000000000000000000001', 'http://127.0.0.1:9/hook', '["transcriptions.transcription.completed"]', 'whsec_Rmlyc3RSZWxlYXNlRmlyc3RSZWxlYXNl', 'whsec_QmVmb3JlQmVmb3JlQmVmb3JlQmVmb3Jl', '2024-11-21 00:00:00+00', '{"team": "video"}', '2024-11-20 08:02:00+00', '2024-11-20 10:05:00+00', NULL, NULL);
--;
INSERT INTO public.webhook_endpoint (id, environment_id, url, event_types, secret, previous_secret, previous_secret_expires_at, metadata, created_at, failing_since, disabled_at, disabled_reason) VALUES ('endpoint_01jd0000000000000000000002', 'env_01jd0000000000000000000001', 'https://gone.example/hook', '["transcriptions.transcription.failed"]', 'whsec_R29uZUdvbmVHb25lR29uZUdvbmVHb25l', NULL, NULL, '{}', '2024-11-20 08:03:00+00', NULL, '2024-11-20 11:00:00+00', 'gone');
--;
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (id);
--;
ALTER TABLE ONLY public.delivery_attempt
    ADD CONSTRAINT delivery_attempt_pkey PRIMARY KEY (delivery_id, number);
--;
ALTER TABLE ONLY public.delivery
    ADD CONSTRAINT delivery_once_per_endpoint UNIQUE (event_id, endpoint_id);
--;
ALTER TABLE ONLY public.delivery
    ADD CONSTRAINT delivery_pkey PRIMARY KEY (id);
--;
ALTER TABLE ONLY public.environment
    ADD CONSTRAINT environment_name_key UNIQUE (name);
--;
ALTER TABLE ONLY public.environment
    ADD CONSTRAINT environment_pkey PRIMARY KEY (id);
--;
ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (id);
--;
ALTER TABLE ONLY public.idempotency_key
    ADD CONSTRAINT idempotency_key_pkey PRIMARY KEY (environment_id, key);
--;
ALTER TABLE ONLY public.kysely_migration_lock
    ADD CONSTRAINT kysely_migration_lock_pkey PRIMARY KEY (id);
--;
ALTER TABLE ONLY public.kysely_migration
    ADD CONSTRAINT kysely_migration_pkey PRIMARY KEY (name);
--;
ALTER TABLE ONLY public.operator_account
    ADD CONSTRAINT operator_account_once UNIQUE (provider_id, account_id);
--;
ALTER TABLE ONLY public.operator_account
    ADD CONSTRAINT operator_account_pkey PRIMARY KEY (id);
--;
ALTER TABLE ONLY public.operator
    ADD CONSTRAINT operator_email_key UNIQUE (email);
--;
ALTER TABLE ONLY public.operator_invitation
    ADD CONSTRAINT operator_invitation_email_key UNIQUE (email);
--;
ALTER TABLE ONLY public.operator_invitation
    ADD CONSTRAINT operator_invitation_pkey PRIMARY KEY (id);
--;
ALTER TABLE ONLY public.operator_invitation
    ADD CONSTRAINT operator_invitation_token_hash_key UNIQUE (token_hash);
--;
ALTER TABLE ONLY public.operator
    ADD CONSTRAINT operator_pkey PRIMARY KEY (id);
--;
ALTER TABLE ONLY public.operator_session
    ADD CONSTRAINT operator_session_pkey PRIMARY KEY (id);
--;
ALTER TABLE ONLY public.operator_session
    ADD CONSTRAINT operator_session_token_key UNIQUE (token);
--;
ALTER TABLE ONLY public.operator_verification
    ADD CONSTRAINT operator_verification_pkey PRIMARY KEY (id);
--;
ALTER TABLE ONLY public.service_secret
    ADD CONSTRAINT service_secret_pkey PRIMARY KEY (name);
--;
ALTER TABLE ONLY public.transcription
    ADD CONSTRAINT transcription_pkey PRIMARY KEY (id);
--;
ALTER TABLE ONLY public.transcription
    ADD CONSTRAINT transcription_video_id_key UNIQUE (video_id);
--;
ALTER TABLE ONLY public.video
    ADD CONSTRAINT video_pkey PRIMARY KEY (id);
--;
ALTER TABLE ONLY public.webhook_endpoint
    ADD CONSTRAINT webhook_endpoint_pkey PRIMARY KEY (id);
--;
CREATE INDEX api_key_environment ON public.api_key USING btree (environment_id);
--;
CREATE INDEX delivery_endpoint ON public.delivery USING btree (endpoint_id, created_at);
--;
CREATE INDEX delivery_endpoint_id ON public.delivery USING btree (endpoint_id, id);
--;
CREATE INDEX event_endpoint ON public.event USING btree (endpoint_id);
--;
CREATE INDEX event_transcription ON public.event USING btree (transcription_id);
--;
CREATE INDEX idempotency_key_created ON public.idempotency_key USING btree (created_at);
--;
CREATE INDEX operator_account_operator ON public.operator_account USING btree (operator_id);
--;
CREATE INDEX operator_session_operator ON public.operator_session USING btree (operator_id);
--;
CREATE INDEX transcription_environment_changed ON public.transcription USING btree (environment_id, changed_at);
--;
CREATE INDEX transcription_environment_status ON public.transcription USING btree (environment_id, status, video_id);
--;
CREATE INDEX transcription_status ON public.transcription USING btree (status, created_at);
--;
CREATE INDEX video_environment_changed ON public.video USING btree (environment_id, changed_at);
--;
CREATE INDEX video_environment_id ON public.video USING btree (environment_id, id);
--;
CREATE INDEX video_environment_untranscribed ON public.video USING btree (environment_id, id) WHERE (ai_transcription IS FALSE);
--;
CREATE INDEX video_environment_uploading ON public.video USING btree (environment_id, id) WHERE (uploaded_at IS NULL);
--;
CREATE INDEX video_uploading ON public.video USING btree (created_at) WHERE (uploaded_at IS NULL);
--;
CREATE INDEX webhook_endpoint_environment_id ON public.webhook_endpoint USING btree (environment_id, id);
--;
CREATE TRIGGER transcription_changed BEFORE INSERT OR UPDATE ON public.transcription FOR EACH ROW EXECUTE FUNCTION public.note_change();
--;
CREATE TRIGGER video_changed BEFORE INSERT OR UPDATE ON public.video FOR EACH ROW EXECUTE FUNCTION public.note_change();
--;
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environment(id) ON DELETE CASCADE;
--;
ALTER TABLE ONLY public.delivery_attempt
    ADD CONSTRAINT delivery_attempt_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES public.delivery(id) ON DELETE CASCADE;
--;
ALTER TABLE ONLY public.delivery
    ADD CONSTRAINT delivery_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES public.webhook_endpoint(id) ON DELETE CASCADE;
--;
ALTER TABLE ONLY public.delivery
    ADD CONSTRAINT delivery_event_id_fkey FOREIGN KEY (event_id) REFERENCES public.event(id) ON DELETE CASCADE;
--;
ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES public.webhook_endpoint(id) ON DELETE CASCADE;
--;
ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environment(id);
--;
ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_transcription_id_fkey FOREIGN KEY (transcription_id) REFERENCES public.transcription(id) ON DELETE CASCADE;
--;
ALTER TABLE ONLY public.idempotency_key
    ADD CONSTRAINT idempotency_key_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environment(id) ON DELETE CASCADE;
--;
ALTER TABLE ONLY public.operator_account
    ADD CONSTRAINT operator_account_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES public.operator(id) ON DELETE CASCADE;
--;
ALTER TABLE ONLY public.operator_session
    ADD CONSTRAINT operator_session_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES public.operator(id) ON DELETE CASCADE;
--;
ALTER TABLE ONLY public.transcription
    ADD CONSTRAINT transcription_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environment(id);
--;
ALTER TABLE ONLY public.transcription
    ADD CONSTRAINT transcription_video_id_fkey FOREIGN KEY (video_id) REFERENCES public.video(id) ON DELETE CASCADE;
--;
ALTER TABLE ONLY public.video
    ADD CONSTRAINT video_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environment(id);
--;
ALTER TABLE ONLY public.webhook_endpoint
    ADD CONSTRAINT webhook_endpoint_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environment(id) ON DELETE CASCADE;
--;
