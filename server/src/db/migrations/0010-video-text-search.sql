-- The text search of the video list finds any part of a value. Without this index, it reads every video. The index
-- needs an extension that the role may lack the privilege to create; `doctor` and docs/postgresql.md say how to add it.
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
