-- Settings that were set through the API. They hold for every node and stand above file, environment and flags.
--
-- Lanes are not here: they have had a table of their own from the beginning.

create table setting (
  path       text collate "C" not null primary key,
  value      jsonb       not null,
  updated_at timestamptz not null,
  updated_by text collate "C"
);
