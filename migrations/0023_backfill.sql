-- Past moments of a schedule that somebody wants runs for. Which moments is decided when it begins and kept with it; how
-- far it has come is written in the transaction that makes the runs, under the lock of the org, so any node goes on where
-- another has stopped. Nodes of the release before know nothing of it: they execute its runs and make none.
create table backfill (
  org_id          text collate "C" not null references org (id),
  id              text collate "C" not null,
  schedule_id     text collate "C" not null,
  state           text collate "C" not null check (state in ('running', 'done', 'cancelled', 'failed')),
  -- Why it has ended, or what it waits for. Null: it goes on.
  why             jsonb,
  terms           jsonb       not null,
  -- In the order in which they are taken.
  moments         timestamptz[] not null,
  total           integer     not null check (total >= 0),
  taken           integer     not null check (taken between 0 and total),
  -- The runs that were pending when somebody last looked.
  in_flight       text[] collate "C" not null,
  counts          jsonb       not null,
  failures_in_row integer     not null,
  next_at         timestamptz,
  -- What was known when it began: moments left out, what it would take, and what to know about it.
  outlook         jsonb       not null,
  created_by      text        not null,
  created_at      timestamptz not null,
  finished_at     timestamptz,
  primary key (org_id, id),
  constraint backfill_ends check ((state = 'running') = (finished_at is null))
) with (fillfactor = 70);

-- The list of moments never changes: kept beside the row, it is not written again with every step.
alter table backfill alter column moments set storage external;

create index backfill_open on backfill (org_id, id) where state = 'running' or in_flight <> '{}';
-- One at a time: two would take the same moments.
create unique index backfill_of_schedule on backfill (org_id, schedule_id) where state = 'running';
create index backfill_by_age on backfill (org_id, created_at, id);
