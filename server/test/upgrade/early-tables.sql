-- The tables of the early migrations, up to 0023_file_formats, as pg_dump wrote them.
CREATE FUNCTION public.note_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
      new.changed_at := clock_timestamp();
      return new;
    end $$;
CREATE FUNCTION public.note_event_type() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
      select type into new.event_type from event where id = new.event_id;
      return new;
    end $$;
CREATE FUNCTION public.note_video_deletion() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
      insert into video_deletion (environment_id, video_id, deleted_at)
      values (old.environment_id, old.id, clock_timestamp());
      delete from video_deletion where ctid = any (array(
        select ctid from video_deletion where deleted_at < clock_timestamp() - interval '10 minutes'
        order by deleted_at limit 20 for update skip locked
      ));
      return null;
    end $$;
CREATE FUNCTION public.write_tombstone() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
      insert into tombstone (id, deleted_at) values (old.id, clock_timestamp()) on conflict do nothing;
      return null;
    end $$;
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
CREATE TABLE public.audit_entry (
    id text NOT NULL,
    at timestamp with time zone NOT NULL,
    action text NOT NULL,
    actor_kind text NOT NULL,
    actor_id text,
    actor_name text,
    address text,
    environment_id text,
    environment_name text,
    subject_id text,
    subject_name text,
    detail jsonb NOT NULL
);
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
    event_type text,
    held_until timestamp with time zone,
    early_attempts integer DEFAULT 0 NOT NULL,
    CONSTRAINT delivery_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'canceled'::text])))
);
CREATE TABLE public.delivery_attempt (
    delivery_id text NOT NULL,
    number integer NOT NULL,
    attempted_at timestamp with time zone NOT NULL,
    latency_ms integer NOT NULL,
    status_code integer,
    failure text,
    response_start text
);
CREATE TABLE public.environment (
    id text NOT NULL,
    name text NOT NULL,
    ai_transcription boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    allowed_origins jsonb DEFAULT '["*"]'::jsonb NOT NULL,
    retention_days integer,
    retention_deletes text,
    CONSTRAINT environment_retention_days_check CHECK ((retention_days > 0)),
    CONSTRAINT environment_retention_deletes_check CHECK ((retention_deletes = ANY (ARRAY['recording'::text, 'video'::text]))),
    CONSTRAINT environment_retention_whole CHECK (((retention_days IS NULL) = (retention_deletes IS NULL)))
);
CREATE TABLE public.environment_queue (
    environment_id text NOT NULL,
    weight integer DEFAULT 1 NOT NULL,
    finish_tag bigint DEFAULT 0 NOT NULL,
    retag_from bigint,
    work_seconds_per_byte double precision,
    CONSTRAINT environment_queue_weight_check CHECK (((weight >= 1) AND (weight <= 100)))
);
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
CREATE TABLE public.file_check (
    "only" boolean DEFAULT true NOT NULL,
    "position" text NOT NULL,
    round_ended_at timestamp with time zone,
    CONSTRAINT file_check_only_check CHECK ("only")
);
CREATE TABLE public.idempotency_key (
    environment_id text NOT NULL,
    key text NOT NULL,
    fingerprint text NOT NULL,
    status integer NOT NULL,
    body text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.kysely_migration (
    name character varying(255) NOT NULL,
    "timestamp" character varying(255) NOT NULL
);
CREATE TABLE public.kysely_migration_lock (
    id character varying(255) NOT NULL,
    is_locked integer DEFAULT 0 NOT NULL
);
CREATE TABLE public.missing_file (
    video_id text NOT NULL,
    part text NOT NULL,
    noticed_at timestamp with time zone NOT NULL,
    CONSTRAINT missing_file_part_check CHECK ((part = ANY (ARRAY['recording'::text, 'transcript'::text])))
);
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
CREATE TABLE public.operator_invitation (
    id text NOT NULL,
    email text NOT NULL,
    role text NOT NULL,
    token_hash text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT operator_invitation_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'viewer'::text])))
);
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
CREATE TABLE public.operator_verification (
    id text NOT NULL,
    identifier text NOT NULL,
    value text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE TABLE public.queue_clock (
    "only" boolean DEFAULT true NOT NULL,
    virtual_time bigint DEFAULT 0 NOT NULL,
    base bigint DEFAULT 0 NOT NULL,
    CONSTRAINT queue_clock_only_check CHECK ("only")
);
CREATE TABLE public.search_document (
    number integer NOT NULL,
    transcription_id text NOT NULL,
    environment_id text NOT NULL,
    job_id uuid NOT NULL,
    language text,
    dictionary text,
    shard integer,
    indexed_at timestamp with time zone
);
ALTER TABLE public.search_document ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.search_document_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.search_language (
    environment_id text NOT NULL,
    language text NOT NULL,
    dictionary text NOT NULL
);
CREATE TABLE public.search_passage (
    document integer NOT NULL,
    ordinal integer NOT NULL,
    start_ms integer NOT NULL,
    end_ms integer NOT NULL,
    text text NOT NULL,
    lexemes tsvector NOT NULL
);
CREATE TABLE public.search_shard (
    number integer NOT NULL,
    environment_id text NOT NULL,
    passage_count integer NOT NULL
);
ALTER TABLE public.search_shard ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.search_shard_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.service_secret (
    name text NOT NULL,
    value text NOT NULL
);
CREATE TABLE public.store_record (
    "only" boolean DEFAULT true NOT NULL,
    store_id text NOT NULL,
    owner text NOT NULL,
    home text NOT NULL,
    generation bigint NOT NULL,
    token text NOT NULL,
    advanced_at timestamp with time zone NOT NULL,
    CONSTRAINT store_record_only_check CHECK ("only")
);
CREATE TABLE public.tombstone (
    id text NOT NULL,
    deleted_at timestamp with time zone NOT NULL
);
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
    queued_at timestamp with time zone,
    waveform_prefix text,
    due_at timestamp with time zone,
    parked_at timestamp with time zone,
    audio_track integer,
    file_formats jsonb DEFAULT '["vtt", "json", "txt"]'::jsonb NOT NULL,
    CONSTRAINT transcription_files_when_completed CHECK (((status = 'COMPLETED'::text) = (file_prefix IS NOT NULL))),
    CONSTRAINT transcription_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'PROCESSING'::text, 'COMPLETED'::text, 'FAILED'::text, 'SKIPPED'::text])))
);
CREATE TABLE public.transcription_attempt (
    transcription_id text NOT NULL,
    number integer NOT NULL,
    queued_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone NOT NULL,
    decoded_at timestamp with time zone,
    transcribed_at timestamp with time zone,
    ended_at timestamp with time zone,
    outcome text,
    failure_code text,
    failure_message text,
    retry_at timestamp with time zone,
    CONSTRAINT transcription_attempt_ended CHECK (((ended_at IS NULL) = (outcome IS NULL))),
    CONSTRAINT transcription_attempt_outcome_check CHECK ((outcome = ANY (ARRAY['completed'::text, 'skipped'::text, 'failed'::text, 'returned'::text, 'handed_back'::text, 'yielded'::text, 'lost'::text])))
);
CREATE TABLE public.transcription_stretch (
    transcription_id text NOT NULL,
    attempt integer NOT NULL,
    number integer NOT NULL,
    settled_seconds double precision NOT NULL,
    answers text NOT NULL
);
CREATE TABLE public.unknown_file (
    key text NOT NULL,
    store text NOT NULL,
    first_seen_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    bytes bigint NOT NULL,
    CONSTRAINT unknown_file_store_check CHECK ((store = ANY (ARRAY['recordings'::text, 'transcripts'::text])))
);
CREATE TABLE public.video (
    id text NOT NULL,
    environment_id text NOT NULL,
    metadata jsonb NOT NULL,
    size_bytes bigint,
    created_at timestamp with time zone NOT NULL,
    uploaded_at timestamp with time zone,
    ai_transcription boolean,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    recording_deleted_at timestamp with time zone,
    upload_active_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE public.video_deletion (
    environment_id text NOT NULL,
    video_id text NOT NULL,
    deleted_at timestamp with time zone NOT NULL
);
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
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0001_first', '');
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0002_operators', '');
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0003_stretches', '');
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0004_contract', '');
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0005_dashboard', '');
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0006_attempts', '');
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0007_search', '');
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0008_turns', '');
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0009_kept_stretches', '');
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0010_housekeeping', '');
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0011_deletions', '');
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0013_audit', '');
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0014_event_types', '');
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0015_storage', '');
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0016_session_hashes', '');
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0017_audio_track', '');
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0019_early_deliveries', '');
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0020_upload_activity', '');
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0021_fair_queueing', '');
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0022_search_stop_words', '');
INSERT INTO public.kysely_migration (name, "timestamp") VALUES ('0023_file_formats', '');
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.audit_entry
    ADD CONSTRAINT audit_entry_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.delivery_attempt
    ADD CONSTRAINT delivery_attempt_pkey PRIMARY KEY (delivery_id, number);
ALTER TABLE ONLY public.delivery
    ADD CONSTRAINT delivery_once_per_endpoint UNIQUE (event_id, endpoint_id);
ALTER TABLE ONLY public.delivery
    ADD CONSTRAINT delivery_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.environment
    ADD CONSTRAINT environment_name_key UNIQUE (name);
ALTER TABLE ONLY public.environment
    ADD CONSTRAINT environment_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.environment_queue
    ADD CONSTRAINT environment_queue_pkey PRIMARY KEY (environment_id);
ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.file_check
    ADD CONSTRAINT file_check_pkey PRIMARY KEY ("only");
ALTER TABLE ONLY public.idempotency_key
    ADD CONSTRAINT idempotency_key_pkey PRIMARY KEY (environment_id, key);
ALTER TABLE ONLY public.kysely_migration_lock
    ADD CONSTRAINT kysely_migration_lock_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.kysely_migration
    ADD CONSTRAINT kysely_migration_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.missing_file
    ADD CONSTRAINT missing_file_pkey PRIMARY KEY (video_id, part);
ALTER TABLE ONLY public.operator_account
    ADD CONSTRAINT operator_account_once UNIQUE (provider_id, account_id);
ALTER TABLE ONLY public.operator_account
    ADD CONSTRAINT operator_account_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.operator
    ADD CONSTRAINT operator_email_key UNIQUE (email);
ALTER TABLE ONLY public.operator_invitation
    ADD CONSTRAINT operator_invitation_email_key UNIQUE (email);
ALTER TABLE ONLY public.operator_invitation
    ADD CONSTRAINT operator_invitation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.operator_invitation
    ADD CONSTRAINT operator_invitation_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY public.operator
    ADD CONSTRAINT operator_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.operator_session
    ADD CONSTRAINT operator_session_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.operator_session
    ADD CONSTRAINT operator_session_token_key UNIQUE (token);
ALTER TABLE ONLY public.operator_verification
    ADD CONSTRAINT operator_verification_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.queue_clock
    ADD CONSTRAINT queue_clock_pkey PRIMARY KEY ("only");
ALTER TABLE ONLY public.search_document
    ADD CONSTRAINT search_document_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.search_document
    ADD CONSTRAINT search_document_transcription_id_key UNIQUE (transcription_id);
ALTER TABLE ONLY public.search_language
    ADD CONSTRAINT search_language_pkey PRIMARY KEY (environment_id, language, dictionary);
ALTER TABLE ONLY public.search_passage
    ADD CONSTRAINT search_passage_pkey PRIMARY KEY (document, ordinal);
ALTER TABLE ONLY public.search_shard
    ADD CONSTRAINT search_shard_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.service_secret
    ADD CONSTRAINT service_secret_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.store_record
    ADD CONSTRAINT store_record_pkey PRIMARY KEY ("only");
ALTER TABLE ONLY public.tombstone
    ADD CONSTRAINT tombstone_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.transcription_attempt
    ADD CONSTRAINT transcription_attempt_pkey PRIMARY KEY (transcription_id, number);
ALTER TABLE ONLY public.transcription
    ADD CONSTRAINT transcription_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.transcription_stretch
    ADD CONSTRAINT transcription_stretch_pkey PRIMARY KEY (transcription_id, attempt, number);
ALTER TABLE ONLY public.transcription
    ADD CONSTRAINT transcription_video_id_key UNIQUE (video_id);
ALTER TABLE ONLY public.unknown_file
    ADD CONSTRAINT unknown_file_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.video
    ADD CONSTRAINT video_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.webhook_endpoint
    ADD CONSTRAINT webhook_endpoint_pkey PRIMARY KEY (id);
CREATE INDEX api_key_environment ON public.api_key USING btree (environment_id);
CREATE INDEX audit_entry_action ON public.audit_entry USING btree (action, id);
CREATE INDEX audit_entry_actor ON public.audit_entry USING btree (actor_id, id);
CREATE INDEX audit_entry_actor_kind ON public.audit_entry USING btree (actor_kind, id);
CREATE INDEX audit_entry_at ON public.audit_entry USING btree (at);
CREATE INDEX delivery_endpoint ON public.delivery USING btree (endpoint_id, created_at);
CREATE INDEX delivery_endpoint_event ON public.delivery USING btree (endpoint_id, event_type, status, id);
CREATE INDEX delivery_endpoint_id ON public.delivery USING btree (endpoint_id, id);
CREATE INDEX delivery_endpoint_status ON public.delivery USING btree (endpoint_id, status, id);
CREATE INDEX delivery_waiting ON public.delivery USING btree (endpoint_id, id) WHERE ((status = 'pending'::text) AND (attempts > 0));
CREATE INDEX event_endpoint ON public.event USING btree (endpoint_id);
CREATE INDEX event_transcription ON public.event USING btree (transcription_id);
CREATE INDEX idempotency_key_created ON public.idempotency_key USING btree (created_at);
CREATE INDEX operator_account_operator ON public.operator_account USING btree (operator_id);
CREATE INDEX operator_session_operator ON public.operator_session USING btree (operator_id);
CREATE INDEX search_document_waiting ON public.search_document USING btree (number) WHERE (indexed_at IS NULL);
CREATE INDEX search_passage_lexemes ON public.search_passage USING gin (lexemes) WITH (fastupdate=off);
CREATE INDEX search_shard_environment ON public.search_shard USING btree (environment_id, number);
CREATE INDEX tombstone_deleted ON public.tombstone USING btree (deleted_at);
CREATE INDEX transcription_environment_changed ON public.transcription USING btree (environment_id, changed_at);
CREATE INDEX transcription_environment_status ON public.transcription USING btree (environment_id, status, video_id);
CREATE INDEX transcription_job ON public.transcription USING btree (job_id) WHERE (status = ANY (ARRAY['PENDING'::text, 'PROCESSING'::text]));
CREATE INDEX transcription_status ON public.transcription USING btree (status, created_at);
CREATE INDEX video_deletion_environment ON public.video_deletion USING btree (environment_id, deleted_at);
CREATE INDEX video_deletion_time ON public.video_deletion USING btree (deleted_at);
CREATE INDEX video_environment_changed ON public.video USING btree (environment_id, changed_at);
CREATE INDEX video_environment_id ON public.video USING btree (environment_id, id);
CREATE INDEX video_environment_untranscribed ON public.video USING btree (environment_id, id) WHERE (ai_transcription IS FALSE);
CREATE INDEX video_environment_uploading ON public.video USING btree (environment_id, id) WHERE (uploaded_at IS NULL);
CREATE INDEX video_uploading ON public.video USING btree (created_at) WHERE (uploaded_at IS NULL);
CREATE INDEX video_with_recording ON public.video USING btree (environment_id, uploaded_at, id) WHERE ((recording_deleted_at IS NULL) AND (uploaded_at IS NOT NULL));
CREATE INDEX video_without_recording ON public.video USING btree (environment_id, uploaded_at, id) WHERE (recording_deleted_at IS NOT NULL);
CREATE INDEX webhook_endpoint_environment_id ON public.webhook_endpoint USING btree (environment_id, id);
CREATE TRIGGER delivery_event_type BEFORE INSERT ON public.delivery FOR EACH ROW EXECUTE FUNCTION public.note_event_type();
CREATE TRIGGER transcription_changed BEFORE INSERT OR UPDATE ON public.transcription FOR EACH ROW EXECUTE FUNCTION public.note_change();
CREATE TRIGGER transcription_tombstone AFTER DELETE ON public.transcription FOR EACH ROW EXECUTE FUNCTION public.write_tombstone();
CREATE TRIGGER video_changed BEFORE UPDATE ON public.video FOR EACH ROW WHEN ((old.upload_active_at = new.upload_active_at)) EXECUTE FUNCTION public.note_change();
CREATE TRIGGER video_deleted AFTER DELETE ON public.video FOR EACH ROW EXECUTE FUNCTION public.note_video_deletion();
CREATE TRIGGER video_inserted BEFORE INSERT ON public.video FOR EACH ROW EXECUTE FUNCTION public.note_change();
CREATE TRIGGER video_recording_tombstone AFTER UPDATE OF recording_deleted_at ON public.video FOR EACH ROW WHEN (((old.recording_deleted_at IS NULL) AND (new.recording_deleted_at IS NOT NULL))) EXECUTE FUNCTION public.write_tombstone();
CREATE TRIGGER video_tombstone AFTER DELETE ON public.video FOR EACH ROW EXECUTE FUNCTION public.write_tombstone();
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environment(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.delivery_attempt
    ADD CONSTRAINT delivery_attempt_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES public.delivery(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.delivery
    ADD CONSTRAINT delivery_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES public.webhook_endpoint(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.delivery
    ADD CONSTRAINT delivery_event_id_fkey FOREIGN KEY (event_id) REFERENCES public.event(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.environment_queue
    ADD CONSTRAINT environment_queue_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environment(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES public.webhook_endpoint(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environment(id);
ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_transcription_id_fkey FOREIGN KEY (transcription_id) REFERENCES public.transcription(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.idempotency_key
    ADD CONSTRAINT idempotency_key_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environment(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.missing_file
    ADD CONSTRAINT missing_file_video_id_fkey FOREIGN KEY (video_id) REFERENCES public.video(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.operator_account
    ADD CONSTRAINT operator_account_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES public.operator(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.operator_session
    ADD CONSTRAINT operator_session_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES public.operator(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.search_document
    ADD CONSTRAINT search_document_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environment(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.search_document
    ADD CONSTRAINT search_document_shard_fkey FOREIGN KEY (shard) REFERENCES public.search_shard(number);
ALTER TABLE ONLY public.search_document
    ADD CONSTRAINT search_document_transcription_id_fkey FOREIGN KEY (transcription_id) REFERENCES public.transcription(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.search_language
    ADD CONSTRAINT search_language_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environment(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.search_passage
    ADD CONSTRAINT search_passage_document_fkey FOREIGN KEY (document) REFERENCES public.search_document(number) ON DELETE CASCADE;
ALTER TABLE ONLY public.search_shard
    ADD CONSTRAINT search_shard_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environment(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.transcription_attempt
    ADD CONSTRAINT transcription_attempt_transcription_id_fkey FOREIGN KEY (transcription_id) REFERENCES public.transcription(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.transcription
    ADD CONSTRAINT transcription_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environment(id);
ALTER TABLE ONLY public.transcription_stretch
    ADD CONSTRAINT transcription_stretch_transcription_id_fkey FOREIGN KEY (transcription_id) REFERENCES public.transcription(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.transcription
    ADD CONSTRAINT transcription_video_id_fkey FOREIGN KEY (video_id) REFERENCES public.video(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.video
    ADD CONSTRAINT video_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environment(id);
ALTER TABLE ONLY public.webhook_endpoint
    ADD CONSTRAINT webhook_endpoint_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES public.environment(id) ON DELETE CASCADE;
