-- The record of what has been applied. The schema itself is made by the runner, because its name is a setting; every
-- statement here and in later files finds it through the search path and names no schema.
create table migration (
  number     integer     not null primary key check (number > 0),
  name       text        not null,
  checksum   text        not null,
  applied_at timestamptz not null
);
