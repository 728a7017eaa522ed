-- How runs ended, counted for ever.
--
-- Each turn says in its row of history how the runs ended that ended in it, so that counting costs the turn no statement
-- of its own. From there it is added up, each turn once: `run_count_place` says how far that has come, and whoever adds
-- holds its row. History is kept for a day and is added up before any of it goes.

alter table turn add column ended jsonb;

create table run_count (
  org_id text collate "C" not null,
  -- The beginning of an hour of UTC.
  hour   timestamptz not null,
  -- `status`: by state; `duration` and `lateness`: by step of a scale of lengths of time.
  kind   text collate "C" not null check (kind in ('status', 'duration', 'lateness')),
  key    text collate "C" not null,
  count  bigint      not null check (count > 0),
  primary key (org_id, hour, kind, key)
) with (fillfactor = 70);

create table run_count_place (
  org_id text collate "C" not null primary key,
  no     bigint not null
) with (fillfactor = 50);
