-- When the endpoint was last enabled again; null if it never was. An attempt that started before then must not disable it.
alter table webhook_endpoint add column enabled_at timestamptz;
-- Approximate number of received bytes of an upload whose length is deferred, for the limit of its environment.
alter table video add column received_bytes bigint not null default 0;
