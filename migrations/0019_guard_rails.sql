-- How far keys may go, whose schedules and runs are, and which run something comes from. Everything here is empty until
-- somebody makes a key or an agent with guard rails; nodes of the release before know none of it and work on.

alter table api_key add column guard_rails jsonb;
alter table agent add column self_service jsonb;

alter table schedule
  -- The key or the agent that made it under guard rails.
  add column owner text collate "C",
  add column created_by_run text collate "C",
  -- The runs above it: {root, depth, schedules}.
  add column lineage jsonb,
  -- What somebody is asked to approve, or has rejected.
  add column approval jsonb;
create index schedule_by_owner on schedule (org_id, owner, created_at desc, id) where owner is not null;
create index schedule_by_creator on schedule (org_id, created_by_run, created_at, id) where created_by_run is not null;

alter table run
  add column owner text collate "C",
  add column lineage jsonb;
create index run_by_owner on run (org_id, owner, created_at, id) where owner is not null;
create index run_by_parent on run (org_id, parent_run_id, created_at, id) where parent_run_id is not null;

-- What owners have done in the last hour or longer, as far as their rails count it. Whoever writes it holds the org's lock.
create table rail_act (
  org_id      text collate "C" not null references org (id),
  id          bigint generated always as identity,
  owner       text collate "C" not null,
  at          timestamptz not null,
  kind        text collate "C" not null check (kind in ('made', 'moved', 'woken', 'task', 'message')),
  schedule_id text collate "C",
  -- The one moment at which an `at` fires; null once it never will.
  moment      timestamptz,
  primary key (org_id, id)
);
create index rail_act_by_owner on rail_act (org_id, owner, at);
create index rail_act_by_schedule on rail_act (org_id, schedule_id, at) where schedule_id is not null;
create index rail_act_by_moment on rail_act (org_id, owner, moment) where moment is not null;
create index rail_act_by_age on rail_act (at);
