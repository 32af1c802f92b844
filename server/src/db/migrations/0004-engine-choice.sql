-- The speech engine that the owner chose during setup: a model of the catalog, or `bundled`.
create table engine_choice (
  "only" boolean primary key default true check ("only"),
  engine text not null
);
