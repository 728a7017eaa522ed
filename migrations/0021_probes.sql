-- What is asked before an agent is woken. The question itself is part of the schedule or heartbeat; here is what was
-- seen and how often. Nodes of the release before know no probe: they wake the agent without asking.

-- By whoever carries the probe: the id of a schedule, or `heartbeat:` and the id of an agent.
create table probe (
  org_id        text collate "C" not null references org (id),
  subject       text collate "C" not null,
  asked         bigint      not null default 0,
  saved         bigint      not null default 0,
  errors        bigint      not null default 0,
  last_answer   text        not null check (last_answer in ('yes', 'no', 'error')),
  last_sentence text        not null,
  last_at       timestamptz not null,
  last_run_id   text collate "C" not null,
  -- What the last asking saw whose run succeeded, and what a run was woken for that may still be under way.
  seen_mark     text,
  woken_mark    text,
  woken_run_id  text collate "C",
  primary key (org_id, subject)
) with (fillfactor = 70);

-- What was seen for a run. One that was woken once is not asked for again.
create table probe_answer (
  org_id   text collate "C" not null references org (id),
  run_id   text collate "C" not null,
  at       timestamptz not null,
  answer   text        not null check (answer in ('yes', 'no', 'error')),
  asked    text        not null,
  sentence text        not null,
  seen     text        not null,
  primary key (org_id, run_id)
);

-- How often which answer came, counted for ever beside how runs ended: keys `yes`, `no`, `error`.
alter table run_count drop constraint run_count_kind_check,
  add constraint run_count_kind_check check (kind in ('status', 'duration', 'lateness', 'usage', 'probe'));
