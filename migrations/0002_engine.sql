-- The model and the engine's tables.
--
-- Rules that all statements rely on:
--   1. Whoever changes what is pending in an org holds that org's advisory lock, taken in a statement of its own before
--      the first look, and writes one row of `turn` in the same transaction. The numbers of `turn` have no gaps, so they
--      are the org's version: a node whose memory of the org ends at the newest number knows everything.
--   2. `run` is written when a run is made and once more when it ends; what changes in between is in `pending`, a row
--      that lives as long as the run is pending. No index names a column that the ending writes: it stays in its page.
--   3. Text keys are compared byte by byte (collate "C"): order is the same on every server.

create table org (
  id               text collate "C" not null primary key,
  name             text        not null,
  default_timezone text        not null default 'UTC',
  default_agent_id text collate "C",
  max_concurrent   integer     check (max_concurrent > 0),
  max_schedules    integer     check (max_schedules > 0),
  runs_per_day     integer     check (runs_per_day > 0),
  created_at       timestamptz not null
);

create table agent (
  org_id          text collate "C" not null references org (id),
  id              text collate "C" not null,
  name            text        not null,
  description     text        not null default '',
  executor        jsonb       not null,
  retry_policy    jsonb,
  timeout_seconds integer,
  max_concurrent  integer     check (max_concurrent > 0),
  context_window  integer,
  default_session text,
  version         integer     not null default 1,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (org_id, id)
);

-- Rules that are null were never set for the session and come from the deployment.
create table session (
  org_id         text collate "C" not null references org (id),
  key            text collate "C" not null check (octet_length(key) between 1 and 512),
  mode           text        check (mode in ('queue', 'followup', 'interrupt')),
  cap            integer     check (cap > 0),
  drop_policy    text        check (drop_policy in ('old', 'new')),
  debounce_ms    integer     check (debounce_ms >= 0),
  max_concurrent integer     check (max_concurrent > 0),
  cutoff         timestamptz,
  generation     integer     not null default 0,
  tokens         bigint,
  context_window bigint,
  created_at     timestamptz not null,
  primary key (org_id, key)
) with (fillfactor = 80);

create index session_list on session (org_id, created_at desc, key desc);

create table schedule (
  org_id           text collate "C" not null references org (id),
  id               text collate "C" not null,
  agent_id         text collate "C" not null,
  created_by       text,
  name             text        not null,
  description      text        not null default '',
  kind             text        not null check (kind in ('at', 'every', 'cron', 'rrule')),
  -- As it was given, for whoever reads it; `timing` and `rules` are what was understood.
  input            jsonb       not null,
  timing           jsonb       not null,
  rules            jsonb       not null,
  retry_policy     jsonb,
  timeout_seconds  integer,
  lane             text collate "C",
  session_key      text collate "C",
  payload          jsonb,
  delete_after_run boolean     not null,
  state            text        not null check (state in ('active', 'paused', 'finished', 'failed', 'pending_approval')),
  -- Everything up to and including this moment has been decided.
  watermark        timestamptz not null,
  next_run_at      timestamptz,
  failure_streak   integer     not null default 0 check (failure_streak >= 0),
  failure_count    integer     not null default 0,
  skipped_for      text collate "C",
  fires            integer     not null default 0,
  -- The newest run that was neither skipped nor superseded, and how the newest to end went.
  previous_run_id  text collate "C",
  last_ending      jsonb,
  last_run_at      timestamptz,
  last_status      text,
  last_error       text,
  version          integer     not null default 1,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  primary key (org_id, id)
) with (fillfactor = 70);

-- A million enabled schedules cost nothing while idle: the loop reads the head of this index and sleeps until then.
create index schedule_due on schedule (next_run_at) where state = 'active' and next_run_at is not null;
create index schedule_list on schedule (org_id, created_at desc, id);

-- Identity, payload, the decision of admission, and the ending. `state` is null exactly while the run is pending.
create table run (
  org_id        text collate "C" not null,
  id            text collate "C" not null,
  job_run_id    text collate "C", -- null: its own id
  agent_id      text collate "C" not null,
  executor_key  text collate "C" not null,
  session_key   text collate "C",
  generation    integer     not null default 0,
  schedule_id   text collate "C",
  nominal_at    timestamptz,
  trigger       text collate "C" not null,
  lane          text collate "C" not null,
  priority      integer     not null default 0,
  created_at    timestamptz not null,
  sender        text,
  interrupts    boolean     not null default false,
  deadline      timestamptz,
  timeout_seconds integer,
  retry_policy  jsonb,      -- null: the usual one
  failure_action_retries boolean not null default false,
  first_attempt integer     not null default 1,
  retry_of      text collate "C",
  parent_run_id text collate "C",
  payload       jsonb,
  decision      jsonb,      -- null: accepted, with nothing to add
  -- The ending; all null before it.
  state         text collate "C",
  attempt       integer,
  attempt_id    text collate "C",
  node_id       text collate "C",
  started_at    timestamptz,
  finished_at   timestamptz,
  superseded    boolean,
  why           jsonb,
  error_code    text collate "C",
  error_message text,
  output        jsonb,
  summary       text,
  usage         jsonb,
  primary key (org_id, id),
  constraint run_state check (state in ('success', 'failed', 'timeout', 'cancelled', 'skipped', 'dropped', 'rejected', 'expired')),
  constraint run_ended_is_finished check ((state is null) = (finished_at is null)),
  constraint run_executed_has_attempt check (state not in ('success', 'failed', 'timeout') or (attempt_id is not null and started_at is not null)),
  constraint run_refused_has_none check (state not in ('skipped', 'rejected') or attempt_id is null)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);

create index run_by_agent on run (org_id, agent_id, created_at, id);
create index run_by_session on run (org_id, session_key, created_at, id) where session_key is not null;
create index run_by_schedule on run (org_id, schedule_id, created_at, id) where schedule_id is not null;
create index run_by_age on run (org_id, created_at, id);
create index run_tasks on run (org_id, created_at, id) where trigger = 'task';

-- What changes while a run is pending. Nothing is indexed but its key: its changes stay in their page.
create table pending (
  org_id      text collate "C" not null,
  id          text collate "C" not null,
  state       text collate "C" not null check (state in ('waiting', 'queued', 'assigned', 'running', 'awaiting_callback', 'stopping')),
  attempt     integer     not null,
  seq         bigint,
  not_before  timestamptz,
  debouncing  boolean     not null default false,
  slot        text collate "C" check (slot in ('held', 'parked')),
  superseded  boolean     not null default false,
  attempt_id  text collate "C",
  node_id     text collate "C",
  started_at  timestamptz,
  ends_by     timestamptz,
  grace_until timestamptz,
  why         jsonb,
  reserves    jsonb,
  usage       jsonb,
  primary key (org_id, id),
  constraint pending_flies_with_attempt check (state not in ('assigned', 'running', 'awaiting_callback') or attempt_id is not null),
  constraint pending_runs_on_a_node check (state not in ('assigned', 'running') or node_id is not null),
  constraint pending_waits_for_something check (state <> 'waiting' or not_before is not null),
  constraint pending_queued_has_place check (state <> 'queued' or seq is not null or slot = 'parked')
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000,
        vacuum_truncate = false);

-- Attempts that another attempt followed. The last one of a run is in the run itself.
create table attempt (
  org_id        text collate "C" not null,
  run_id        text collate "C" not null,
  number        integer     not null,
  id            text collate "C" not null,
  node_id       text collate "C",
  started_at    timestamptz not null,
  finished_at   timestamptz not null,
  status        text collate "C" not null check (status in ('failed', 'timeout')),
  error_code    text collate "C",
  error_message text,
  primary key (org_id, run_id, number)
);

-- The org's history, one row per transaction that changed it: its version, its events, and what other nodes catch up from.
create table turn (
  org_id  text collate "C" not null,
  no      bigint      not null,
  at      timestamptz not null,
  node_id text collate "C" not null,
  events  json        not null,
  primary key (org_id, no)
) with (autovacuum_vacuum_insert_scale_factor = 0.1);

-- Read rarely, written with every turn: not worth the time to compress.
alter table turn alter column events set storage external;

-- Every occurrence is decided once. No reference to the schedule: history outlives it.
create table occurrence (
  org_id        text collate "C" not null,
  schedule_id   text collate "C" not null,
  nominal_at    timestamptz not null,
  kind          text collate "C" not null check (kind in ('occurrence', 'manual', 'backfill')),
  discriminator text collate "C" not null default '',
  run_id        text collate "C" not null,
  primary key (org_id, schedule_id, nominal_at, kind, discriminator)
);

-- Decisions that made no run: ranges of missed occurrences.
create table decision (
  org_id      text collate "C" not null,
  schedule_id text collate "C" not null,
  first_at    timestamptz not null,
  last_at     timestamptz not null,
  count       bigint      not null check (count > 0),
  why         jsonb       not null,
  decided_at  timestamptz not null,
  primary key (org_id, schedule_id, first_at)
);

-- Single-use tokens of deferred attempts, as hashes.
create table callback (
  token_hash bytea       not null primary key,
  org_id     text collate "C" not null,
  run_id     text collate "C" not null,
  attempt_id text collate "C" not null,
  created_at timestamptz not null
);
create index callback_by_age on callback (created_at);

create table idempotency (
  org_id     text collate "C" not null,
  principal  text collate "C" not null,
  route      text collate "C" not null,
  key        text collate "C" not null,
  body_hash  bytea       not null,
  answer     jsonb       not null,
  created_at timestamptz not null,
  primary key (org_id, principal, route, key)
);
create index idempotency_by_age on idempotency (created_at);

-- A node's lease covers every attempt it holds, so nothing is renewed per run.
create table node (
  id          text collate "C" not null primary key,
  started_at  timestamptz not null,
  lease_until timestamptz not null,
  draining    boolean     not null default false,
  -- Declared by another node after the lease had lapsed; what it held is settled then, and it must begin anew.
  lost        boolean     not null default false,
  executors   text[]      not null,
  lanes       jsonb       not null,
  program     text        not null
) with (fillfactor = 50);

-- Sizes of lanes that were set for every node.
create table lane (
  name        text collate "C" not null primary key,
  concurrency integer     not null check (concurrency > 0),
  updated_at  timestamptz not null
);

create table budget (
  org_id          text collate "C" not null references org (id),
  id              text collate "C" not null,
  scope           text        not null check (scope in ('org', 'agent', 'schedule')),
  scope_id        text collate "C",
  unit            text        not null check (unit in ('tokens', 'money')),
  period          text        not null check (period in ('day', 'month')),
  timezone        text        not null,
  -- Tokens, or money in millionths.
  amount          bigint      not null check (amount > 0),
  on_exceed       text        not null check (on_exceed in ('skip', 'queue', 'pause')),
  default_reserve bigint      not null default 0 check (default_reserve >= 0),
  created_at      timestamptz not null,
  primary key (org_id, id),
  constraint budget_scope_is_named check ((scope = 'org') = (scope_id is null))
);

create table usage (
  org_id       text collate "C" not null,
  budget_id    text collate "C" not null,
  period_start timestamptz not null,
  used         bigint      not null check (used >= 0),
  primary key (org_id, budget_id, period_start)
) with (fillfactor = 50);
