-- When the endpoint was last enabled again; null if it never was. An attempt that started before then must not disable it.
alter table webhook_endpoint add column enabled_at timestamptz;
