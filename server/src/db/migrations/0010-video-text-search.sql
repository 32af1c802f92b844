-- The text search of the video list looks for any part of a value. Without the index, which needs an extension that the
-- role may not be allowed to create, it reads every video; `doctor` and docs/postgresql.md say how to add the index later.
do $$
declare
  extension_schema text;
begin
  begin
    create extension if not exists pg_trgm;
    select nspname into extension_schema
    from pg_extension join pg_namespace on pg_namespace.oid = extnamespace where extname = 'pg_trgm';
    execute format(
      'create index video_metadata_text on video using gin ((metadata::text) %I.gin_trgm_ops)', extension_schema);
  exception when insufficient_privilege or undefined_file or feature_not_supported then
    null;
  end;
end $$;
