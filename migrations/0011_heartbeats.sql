-- Heartbeats: an agent that looks after its checklist by itself, and what became of each look.
--
-- Rules that all statements rely on:
--   1. A heartbeat is changed under the lock of its org, and decided there: whoever finds it due first has decided it.
--   2. `due_at` is the moment of the plan that comes next; `next_at` is when somebody looks, which is the same moment
--      except while the agent is busy. Both are null while it is switched off.
--   3. What was delivered last is not counted anywhere: it is the newest entry of the log whose delivery has arrived.

create table heartbeat (
  org_id      text collate "C" not null,
  agent_id    text collate "C" not null,
  settings    jsonb       not null,
  enabled     boolean     not null,
  due_at      timestamptz,
  next_at     timestamptz,
  -- The moment of the plan that was last decided: a changed interval goes on from it.
  last_due_at timestamptz,
  -- Acknowledgements in a row.
  ok_streak   integer     not null default 0 check (ok_streak >= 0),
  -- The newest run it has made, which may still be pending.
  run_id      text collate "C",
  version     integer     not null default 1,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (org_id, agent_id),
  foreign key (org_id, agent_id) references agent (org_id, id) on delete cascade,
  constraint heartbeat_has_a_plan check (enabled = (next_at is not null) and enabled = (due_at is not null))
) with (fillfactor = 70);
create index heartbeat_next on heartbeat (next_at) where next_at is not null;

create table heartbeat_log (
  org_id      text collate "C" not null,
  id          text collate "C" not null,
  agent_id    text collate "C" not null,
  -- Null: somebody wanted to see it now.
  due_at      timestamptz,
  at          timestamptz not null,
  -- A busy agent is asked again and again: that is one entry.
  looks       integer     not null default 1,
  last_at     timestamptz not null,
  outcome     text collate "C" not null,
  why         jsonb       not null,
  target      text        not null,
  run_id      text collate "C",
  -- What is to be sent, without the token, and under which delivery.
  content     text,
  delivery_id text collate "C",
  finished_at timestamptz,
  primary key (org_id, id)
) with (fillfactor = 80);
create index heartbeat_log_list on heartbeat_log (org_id, agent_id, at, id);
create index heartbeat_log_sent on heartbeat_log (org_id, agent_id, target) where delivery_id is not null;
create index heartbeat_log_old on heartbeat_log (org_id, last_at);
