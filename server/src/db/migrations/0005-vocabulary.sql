alter table environment add column vocabulary jsonb not null default '[]';
