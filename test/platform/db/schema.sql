create sequence rail_act_id_seq as bigint increment 1 start 1;

create table agent (
  org_id text collate C not null,
  id text collate C not null,
  name text not null,
  description text not null default ''::text,
  executor jsonb not null,
  retry_policy jsonb,
  timeout_seconds integer,
  max_concurrent integer,
  context_window integer,
  default_session text,
  version integer not null default 1,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  provider text collate C,
  self_service jsonb
);
create table alert (
  org_id text collate C not null,
  id text collate C not null,
  kind text collate C not null,
  subject_kind text collate C not null,
  subject_id text collate C not null,
  why jsonb not null,
  raised_at timestamp with time zone not null,
  cleared_at timestamp with time zone,
  cleared_why jsonb,
  acknowledged_at timestamp with time zone,
  acknowledged_by text collate C,
  snoozed_until timestamp with time zone
);
create table api_key (
  org_id text collate C not null,
  id text collate C not null,
  name text not null,
  key_hash bytea not null,
  hint text not null,
  role text not null,
  scopes text[],
  origin text not null,
  created_by text collate C,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  guard_rails jsonb
) with (fillfactor=80);
create table attempt (
  org_id text collate C not null,
  run_id text collate C not null,
  number integer not null,
  id text collate C not null,
  node_id text collate C,
  started_at timestamp with time zone not null,
  finished_at timestamp with time zone not null,
  status text collate C not null,
  error_code text collate C,
  error_message text,
  agent_error_code text
);
create table audit (
  org_id text collate C not null,
  no bigint not null,
  at timestamp with time zone not null,
  actor text collate C not null,
  action text collate C not null,
  object_kind text collate C not null,
  object_id text collate C not null,
  before jsonb,
  after jsonb,
  hash bytea not null
);
create table audit_head (
  org_id text collate C not null,
  no bigint not null,
  hash bytea not null
) with (fillfactor=50);
create table backfill (
  org_id text collate C not null,
  id text collate C not null,
  schedule_id text collate C not null,
  state text collate C not null,
  why jsonb,
  terms jsonb not null,
  moments timestamp with time zone[] not null,
  total integer not null,
  taken integer not null,
  in_flight text[] collate C not null,
  counts jsonb not null,
  failures_in_row integer not null,
  next_at timestamp with time zone,
  outlook jsonb not null,
  created_by text not null,
  created_at timestamp with time zone not null,
  finished_at timestamp with time zone
) with (fillfactor=70);
create table backlog (
  org_id text collate C not null,
  id text collate C not null,
  agent_id text collate C not null,
  lane text collate C not null,
  executor_key text collate C not null,
  kind text collate C not null,
  session_key text collate C,
  seq bigint not null,
  priority integer not null,
  created_at timestamp with time zone not null,
  behind boolean not null,
  wake_at timestamp with time zone,
  reserves jsonb
) with (autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=5000, autovacuum_vacuum_cost_delay=0, autovacuum_analyze_scale_factor=0.2, vacuum_truncate=false);
create table backlog_line (
  org_id text collate C not null,
  agent_id text collate C not null,
  lane text collate C not null,
  executor_key text collate C not null,
  kind text collate C not null,
  count integer not null,
  waiting integer not null,
  from_priority integer,
  from_created_at timestamp with time zone,
  from_id text collate C
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=5000);
create table budget (
  org_id text collate C not null,
  id text collate C not null,
  scope text not null,
  scope_id text collate C,
  unit text not null,
  period text not null,
  timezone text not null,
  amount bigint not null,
  on_exceed text not null,
  default_reserve bigint not null default 0,
  created_at timestamp with time zone not null,
  paused_at timestamp with time zone,
  alerts jsonb
);
create table callback (
  token_hash bytea not null,
  org_id text collate C not null,
  run_id text collate C not null,
  attempt_id text collate C not null,
  created_at timestamp with time zone not null,
  work jsonb,
  poll_at timestamp with time zone
);
create table channel (
  org_id text collate C not null,
  id text collate C not null,
  name text collate C not null,
  kind text collate C not null,
  agent_id text collate C not null,
  options jsonb not null,
  sealed_credentials text not null,
  enabled boolean not null,
  identity jsonb,
  last_update bigint,
  holder text collate C,
  held_until timestamp with time zone,
  heard_at timestamp with time zone,
  failed_at timestamp with time zone,
  failure text,
  created_by text collate C,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null
) with (fillfactor=70);
create table chat (
  org_id text collate C not null,
  channel_id text collate C not null,
  peer text collate C not null,
  kind text collate C not null,
  title text,
  agent_id text collate C not null,
  session_key text collate C not null,
  heard_at timestamp with time zone not null
) with (fillfactor=70);
create table chat_mark (
  org_id text collate C not null,
  run_id text collate C not null,
  channel_id text collate C not null,
  peer text collate C not null,
  messages text[] not null,
  placeholder text collate C,
  closed_at timestamp with time zone,
  created_at timestamp with time zone not null
);
create table clearing (
  org_id text collate C not null,
  subject text not null,
  key text collate C not null,
  before timestamp with time zone not null,
  superseded boolean not null,
  why jsonb not null
);
create table clock_step (
  org_id text collate C not null,
  no bigint not null,
  by_ms bigint not null,
  runs text[] collate C not null
);
create table console_session (
  cookie_hash bytea not null,
  org_id text collate C not null,
  member_id text collate C,
  created_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  key_id text collate C
) with (fillfactor=80);
create table decision (
  org_id text collate C not null,
  schedule_id text collate C not null,
  first_at timestamp with time zone not null,
  last_at timestamp with time zone not null,
  count bigint not null,
  why jsonb not null,
  decided_at timestamp with time zone not null
);
create table delivery (
  org_id text collate C not null,
  id text collate C not null,
  run_id text collate C,
  kind text collate C not null,
  target_id text collate C,
  url text,
  line text collate C not null,
  state text collate C not null,
  tries integer not null default 0,
  tries_in_all integer not null default 0,
  next_try_at timestamp with time zone,
  claim text collate C,
  claimed_until timestamp with time zone,
  why jsonb not null,
  output json,
  body text,
  created_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  alert_id text collate C,
  digest_id text collate C,
  is_digest boolean not null default false
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.05);
create table delivery_try (
  org_id text collate C not null,
  delivery_id text collate C not null,
  number integer not null,
  node_id text collate C not null,
  started_at timestamp with time zone not null,
  finished_at timestamp with time zone not null,
  ok boolean not null,
  status_code integer,
  error_code text collate C,
  message text
);
create table heartbeat (
  org_id text collate C not null,
  agent_id text collate C not null,
  settings jsonb not null,
  enabled boolean not null,
  due_at timestamp with time zone,
  next_at timestamp with time zone,
  last_due_at timestamp with time zone,
  ok_streak integer not null default 0,
  run_id text collate C,
  version integer not null default 1,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  last_session text collate C,
  last_session_at timestamp with time zone,
  looked_until timestamp with time zone,
  failing_streak integer not null default 0,
  alert_id text collate C
) with (fillfactor=70);
create table heartbeat_log (
  org_id text collate C not null,
  id text collate C not null,
  agent_id text collate C not null,
  due_at timestamp with time zone,
  at timestamp with time zone not null,
  looks integer not null default 1,
  last_at timestamp with time zone not null,
  outcome text collate C not null,
  why jsonb not null,
  target text not null,
  run_id text collate C,
  content text,
  delivery_id text collate C,
  finished_at timestamp with time zone,
  session_key text collate C
) with (fillfactor=80);
create table idempotency (
  org_id text collate C not null,
  principal text collate C not null,
  route text collate C not null,
  key text collate C not null,
  body_hash bytea not null,
  answer jsonb not null,
  created_at timestamp with time zone not null
);
create table lane (
  name text collate C not null,
  concurrency integer not null,
  updated_at timestamp with time zone not null
);
create table member (
  org_id text collate C not null,
  id text collate C not null,
  name text not null,
  email text,
  role text not null,
  created_by text collate C,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  last_sign_in_at timestamp with time zone
);
create table migration (
  number integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null
);
create table node (
  id text collate C not null,
  started_at timestamp with time zone not null,
  lease_until timestamp with time zone not null,
  draining boolean not null default false,
  lost boolean not null default false,
  executors text[] not null,
  lanes jsonb not null,
  program text not null,
  scanned_at timestamp with time zone,
  key_ids text[] not null default '{}'::text[],
  backlog boolean not null default false
) with (fillfactor=50);
create table occurrence (
  org_id text collate C not null,
  schedule_id text collate C not null,
  nominal_at timestamp with time zone not null,
  kind text collate C not null,
  discriminator text collate C not null default ''::text,
  run_id text collate C not null
);
create table org (
  id text collate C not null,
  name text not null,
  default_timezone text not null default 'UTC'::text,
  default_agent_id text collate C,
  max_concurrent integer,
  max_schedules integer,
  runs_per_day integer,
  created_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  max_timeout_seconds integer
);
create table org_version (
  org_id text collate C not null,
  no bigint not null,
  at timestamp with time zone not null,
  node_id text collate C not null
) with (fillfactor=50);
create table pending (
  org_id text collate C not null,
  id text collate C not null,
  state text collate C not null,
  attempt integer not null,
  seq bigint,
  not_before timestamp with time zone,
  debouncing boolean not null default false,
  slot text collate C,
  superseded boolean not null default false,
  attempt_id text collate C,
  node_id text collate C,
  started_at timestamp with time zone,
  ends_by timestamp with time zone,
  grace_until timestamp with time zone,
  why jsonb,
  reserves jsonb,
  usage jsonb
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000, autovacuum_vacuum_cost_delay=0, autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=100000, vacuum_truncate=false, fillfactor=33);
create table probe (
  org_id text collate C not null,
  subject text collate C not null,
  asked bigint not null default 0,
  saved bigint not null default 0,
  errors bigint not null default 0,
  last_answer text not null,
  last_sentence text not null,
  last_at timestamp with time zone not null,
  last_run_id text collate C not null,
  seen_mark text,
  woken_mark text,
  woken_run_id text collate C
) with (fillfactor=70);
create table probe_answer (
  org_id text collate C not null,
  run_id text collate C not null,
  at timestamp with time zone not null,
  answer text not null,
  asked text not null,
  sentence text not null,
  seen text not null
);
create table provider (
  org_id text collate C not null,
  name text collate C not null,
  requests_per_minute integer,
  tokens_per_minute integer,
  max_concurrent integer,
  requests_level bigint not null,
  tokens_level bigint not null,
  level_at timestamp with time zone not null,
  blocked_until timestamp with time zone,
  refusals integer not null default 0,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null
) with (fillfactor=50);
create table pruner (
  one boolean not null default true,
  holder text not null,
  until timestamp with time zone not null
) with (fillfactor=50);
create table rail_act (
  org_id text collate C not null,
  id bigint not null generated as identity,
  owner text collate C not null,
  at timestamp with time zone not null,
  kind text collate C not null,
  schedule_id text collate C,
  moment timestamp with time zone
);
create table run (
  org_id text collate C not null,
  id text collate C not null,
  job_run_id text collate C,
  agent_id text collate C not null,
  executor_key text collate C not null,
  session_key text collate C,
  generation integer not null default 0,
  schedule_id text collate C,
  nominal_at timestamp with time zone,
  trigger text collate C not null,
  lane text collate C not null,
  priority integer not null default 0,
  created_at timestamp with time zone not null,
  sender text,
  interrupts boolean not null default false,
  deadline timestamp with time zone,
  timeout_seconds integer,
  retry_policy jsonb,
  failure_action_retries boolean not null default false,
  first_attempt integer not null default 1,
  retry_of text collate C,
  parent_run_id text collate C,
  payload jsonb,
  decision jsonb,
  state text collate C,
  attempt integer,
  attempt_id text collate C,
  node_id text collate C,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  superseded boolean,
  why jsonb,
  error_code text collate C,
  error_message text,
  output jsonb,
  summary text,
  usage jsonb,
  delivery jsonb,
  trace text,
  owner text collate C,
  lineage jsonb,
  reported jsonb,
  held_decision jsonb
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.1, fillfactor=40);
create table run_count (
  org_id text collate C not null,
  hour timestamp with time zone not null,
  kind text collate C not null,
  key text collate C not null,
  count bigint not null
) with (fillfactor=70);
create table run_count_place (
  org_id text collate C not null,
  no bigint not null
) with (fillfactor=50);
create table run_edit (
  org_id text collate C not null,
  run_id text collate C not null,
  parts text[] collate C not null,
  model text
);
create table run_log (
  org_id text collate C not null,
  run_id text collate C not null,
  attempt_id text collate C not null,
  id text collate C not null,
  bytes integer not null,
  entries text not null
);
create table schedule (
  org_id text collate C not null,
  id text collate C not null,
  agent_id text collate C not null,
  created_by text,
  name text not null,
  description text not null default ''::text,
  kind text not null,
  input jsonb not null,
  timing jsonb not null,
  rules jsonb not null,
  retry_policy jsonb,
  timeout_seconds integer,
  lane text collate C,
  session_key text collate C,
  payload jsonb,
  delete_after_run boolean not null,
  state text not null,
  watermark timestamp with time zone not null,
  next_run_at timestamp with time zone,
  failure_streak integer not null default 0,
  failure_count integer not null default 0,
  skipped_for text collate C,
  fires integer not null default 0,
  previous_run_id text collate C,
  last_ending jsonb,
  last_run_at timestamp with time zone,
  last_status text,
  last_error text,
  version integer not null default 1,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  alerts jsonb,
  owner text collate C,
  created_by_run text collate C,
  lineage jsonb,
  approval jsonb,
  pace jsonb,
  payload_bytes integer,
  last_release_at timestamp with time zone
) with (fillfactor=70);
create table sealing_key (
  id text collate C not null,
  taken_at timestamp with time zone not null,
  replaced_at timestamp with time zone
);
create table secret (
  org_id text collate C not null,
  name text collate C not null,
  hosts text[] not null,
  sealed_value text not null,
  version integer not null,
  created_by text collate C,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  value_set_at timestamp with time zone not null
);
create table session (
  org_id text collate C not null,
  key text collate C not null,
  mode text,
  cap integer,
  drop_policy text,
  debounce_ms integer,
  max_concurrent integer,
  cutoff timestamp with time zone,
  generation integer not null default 0,
  tokens bigint,
  context_window bigint,
  created_at timestamp with time zone not null,
  behind integer not null default 0,
  behind_from bigint not null default 0
) with (fillfactor=80);
create table setting (
  path text collate C not null,
  value jsonb not null,
  updated_at timestamp with time zone not null,
  updated_by text collate C
);
create table sign_in (
  token_hash bytea not null,
  org_id text collate C not null,
  member_id text collate C not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null
);
create table signing_secret (
  org_id text collate C not null,
  secret text,
  created_at timestamp with time zone not null,
  previous text,
  previous_until timestamp with time zone,
  sealed text,
  previous_sealed text
);
create table target (
  org_id text collate C not null,
  id text collate C not null,
  name text not null,
  kind text not null,
  url text not null,
  failures_in_a_row integer not null default 0,
  disabled_at timestamp with time zone,
  disabled_why jsonb,
  delivered_at timestamp with time zone,
  failed_at timestamp with time zone,
  created_by text collate C,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  settings jsonb not null default '{}'::jsonb,
  quiet_hours jsonb,
  alerts boolean not null default false,
  sealed_url text
) with (fillfactor=70);
create table task_count (
  org_id text collate C not null,
  agent_id text collate C not null,
  completed bigint not null default 0,
  failed bigint not null default 0,
  cancelled bigint not null default 0,
  rejected bigint not null default 0,
  expired bigint not null default 0,
  dispatched bigint not null default 0,
  dispatch_ms bigint not null default 0,
  counted_at timestamp with time zone not null
);
create table task_count_place (
  org_id text collate C not null,
  no bigint not null
) with (fillfactor=50);
create table timeline_count (
  org_id text collate C not null,
  step text collate C not null,
  line text collate C not null,
  at timestamp with time zone not null,
  state text collate C not null,
  count bigint not null
) with (fillfactor=80);
create table timeline_count_place (
  org_id text collate C not null,
  no bigint not null
) with (fillfactor=50);
create table turn (
  org_id text collate C not null,
  no bigint not null,
  at timestamp with time zone not null,
  node_id text collate C not null,
  events json not null,
  ended jsonb,
  tasks jsonb,
  timeline jsonb
) partition by RANGE (at);
create table turn_default (
  org_id text collate C not null,
  no bigint not null,
  at timestamp with time zone not null,
  node_id text collate C not null,
  events json not null,
  ended jsonb,
  tasks jsonb,
  timeline jsonb
) with (autovacuum_vacuum_insert_scale_factor=0.1);
create table unsuccessful_run (
  org_id text collate C not null,
  state text collate C not null,
  created_at timestamp with time zone not null,
  id text collate C not null,
  agent_id text collate C not null,
  trigger text collate C not null,
  agent_error_code text
);
create table usage (
  org_id text collate C not null,
  budget_id text collate C not null,
  period_start timestamp with time zone not null,
  used bigint not null
) with (fillfactor=50);
create table worker (
  org_id text collate C not null,
  id text collate C not null,
  name text not null,
  agents text[] not null,
  capacity integer not null,
  principal text collate C,
  connected_at timestamp with time zone not null,
  lease_until timestamp with time zone not null,
  draining boolean not null default false,
  lost boolean not null default false
);
create table worker_attempt (
  org_id text collate C not null,
  id text collate C not null,
  run_id text collate C not null,
  worker_id text collate C not null,
  assigned_at timestamp with time zone not null
);

alter table agent add constraint agent_max_concurrent_check CHECK ((max_concurrent > 0));
alter table agent add constraint agent_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id);
alter table agent add constraint agent_pkey PRIMARY KEY (org_id, id);
alter table alert add constraint alert_pkey PRIMARY KEY (org_id, id);
alter table api_key add constraint api_key_key_hash_check CHECK ((octet_length(key_hash) = 32));
alter table api_key add constraint api_key_key_hash_key UNIQUE (key_hash);
alter table api_key add constraint api_key_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id);
alter table api_key add constraint api_key_origin_check CHECK ((origin = ANY (ARRAY['person'::text, 'start'::text, 'environment'::text])));
alter table api_key add constraint api_key_pkey PRIMARY KEY (org_id, id);
alter table api_key add constraint api_key_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text])));
alter table attempt add constraint attempt_pkey PRIMARY KEY (org_id, run_id, number);
alter table attempt add constraint attempt_status_check CHECK ((status = ANY (ARRAY['failed'::text, 'timeout'::text])));
alter table audit_head add constraint audit_head_hash_check CHECK ((octet_length(hash) = 32));
alter table audit_head add constraint audit_head_no_check CHECK ((no > 0));
alter table audit_head add constraint audit_head_pkey PRIMARY KEY (org_id);
alter table audit add constraint audit_hash_check CHECK ((octet_length(hash) = 32));
alter table audit add constraint audit_no_check CHECK ((no > 0));
alter table audit add constraint audit_pkey PRIMARY KEY (org_id, no);
alter table backfill add constraint backfill_check CHECK (((taken >= 0) AND (taken <= total)));
alter table backfill add constraint backfill_ends CHECK (((state = 'running'::text) = (finished_at IS NULL)));
alter table backfill add constraint backfill_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id);
alter table backfill add constraint backfill_pkey PRIMARY KEY (org_id, id);
alter table backfill add constraint backfill_state_check CHECK ((state = ANY (ARRAY['running'::text, 'done'::text, 'cancelled'::text, 'failed'::text])));
alter table backfill add constraint backfill_total_check CHECK ((total >= 0));
alter table backlog_line add constraint backlog_line_check CHECK (((waiting >= 0) AND (waiting <= count)));
alter table backlog_line add constraint backlog_line_count_check CHECK ((count > 0));
alter table backlog_line add constraint backlog_line_has_key CHECK ((((waiting = 0) = (from_priority IS NULL)) AND ((waiting = 0) = (from_created_at IS NULL)) AND ((waiting = 0) = (from_id IS NULL))));
alter table backlog_line add constraint backlog_line_pkey PRIMARY KEY (org_id, agent_id, lane, executor_key, kind);
alter table backlog add constraint backlog_behind_in_session CHECK (((NOT behind) OR (session_key IS NOT NULL)));
alter table backlog add constraint backlog_pkey PRIMARY KEY (org_id, kind, created_at, id);
alter table budget add constraint budget_amount_check CHECK ((amount > 0));
alter table budget add constraint budget_default_reserve_check CHECK ((default_reserve >= 0));
alter table budget add constraint budget_on_exceed_check CHECK ((on_exceed = ANY (ARRAY['skip'::text, 'queue'::text, 'pause'::text])));
alter table budget add constraint budget_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id);
alter table budget add constraint budget_period_check CHECK ((period = ANY (ARRAY['day'::text, 'month'::text])));
alter table budget add constraint budget_pkey PRIMARY KEY (org_id, id);
alter table budget add constraint budget_scope_check CHECK ((scope = ANY (ARRAY['org'::text, 'agent'::text, 'schedule'::text])));
alter table budget add constraint budget_scope_is_named CHECK (((scope = 'org'::text) = (scope_id IS NULL)));
alter table budget add constraint budget_unit_check CHECK ((unit = ANY (ARRAY['tokens'::text, 'money'::text])));
alter table callback add constraint callback_pkey PRIMARY KEY (token_hash);
alter table channel add constraint channel_kind_check CHECK ((kind = ANY (ARRAY['telegram'::text, 'slack'::text, 'hook'::text])));
alter table channel add constraint channel_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id);
alter table channel add constraint channel_pkey PRIMARY KEY (org_id, id);
alter table chat_mark add constraint chat_mark_pkey PRIMARY KEY (org_id, run_id);
alter table chat add constraint chat_kind_check CHECK ((kind = ANY (ARRAY['dm'::text, 'group'::text])));
alter table chat add constraint chat_pkey PRIMARY KEY (org_id, channel_id, peer);
alter table clearing add constraint clearing_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id);
alter table clearing add constraint clearing_pkey PRIMARY KEY (org_id, subject, key);
alter table clearing add constraint clearing_subject_check CHECK ((subject = ANY (ARRAY['session'::text, 'schedule'::text])));
alter table clock_step add constraint clock_step_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id);
alter table clock_step add constraint clock_step_pkey PRIMARY KEY (org_id, no);
alter table console_session add constraint console_session_cookie_hash_check CHECK ((octet_length(cookie_hash) = 32));
alter table console_session add constraint console_session_of_one CHECK ((num_nonnulls(member_id, key_id) = 1));
alter table console_session add constraint console_session_org_id_key_id_fkey FOREIGN KEY (org_id, key_id) REFERENCES api_key(org_id, id) ON DELETE CASCADE;
alter table console_session add constraint console_session_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES member(org_id, id) ON DELETE CASCADE;
alter table console_session add constraint console_session_pkey PRIMARY KEY (cookie_hash);
alter table decision add constraint decision_count_check CHECK ((count > 0));
alter table decision add constraint decision_pkey PRIMARY KEY (org_id, schedule_id, first_at);
alter table delivery_try add constraint delivery_try_pkey PRIMARY KEY (org_id, delivery_id, number);
alter table delivery add constraint delivery_ended_is_finished CHECK (((state = ANY (ARRAY['delivered'::text, 'failed'::text, 'kept'::text])) = (finished_at IS NOT NULL)));
alter table delivery add constraint delivery_goes_somewhere CHECK ((((kind = 'saved'::text) = (target_id IS NOT NULL)) AND ((kind = 'callback'::text) = (url IS NOT NULL))));
alter table delivery add constraint delivery_is_due CHECK (((state <> 'pending'::text) OR (next_try_at IS NOT NULL)));
alter table delivery add constraint delivery_kind_check CHECK ((kind = ANY (ARRAY['saved'::text, 'callback'::text, 'session'::text, 'channel'::text])));
alter table delivery add constraint delivery_pkey PRIMARY KEY (org_id, id);
alter table delivery add constraint delivery_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'held'::text, 'delivered'::text, 'failed'::text, 'kept'::text])));
alter table heartbeat_log add constraint heartbeat_log_pkey PRIMARY KEY (org_id, id);
alter table heartbeat add constraint heartbeat_has_a_plan CHECK (((enabled = (next_at IS NOT NULL)) AND (enabled = (due_at IS NOT NULL))));
alter table heartbeat add constraint heartbeat_ok_streak_check CHECK ((ok_streak >= 0));
alter table heartbeat add constraint heartbeat_org_id_agent_id_fkey FOREIGN KEY (org_id, agent_id) REFERENCES agent(org_id, id) ON DELETE CASCADE;
alter table heartbeat add constraint heartbeat_pkey PRIMARY KEY (org_id, agent_id);
alter table idempotency add constraint idempotency_pkey PRIMARY KEY (org_id, principal, route, key);
alter table lane add constraint lane_concurrency_check CHECK ((concurrency > 0));
alter table lane add constraint lane_pkey PRIMARY KEY (name);
alter table member add constraint member_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id);
alter table member add constraint member_pkey PRIMARY KEY (org_id, id);
alter table member add constraint member_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text])));
alter table migration add constraint migration_number_check CHECK ((number > 0));
alter table migration add constraint migration_pkey PRIMARY KEY (number);
alter table node add constraint node_pkey PRIMARY KEY (id);
alter table occurrence add constraint occurrence_kind_check CHECK ((kind = ANY (ARRAY['occurrence'::text, 'manual'::text, 'backfill'::text])));
alter table occurrence add constraint occurrence_pkey PRIMARY KEY (org_id, schedule_id, nominal_at, kind, discriminator);
alter table org_version add constraint org_version_pkey PRIMARY KEY (org_id);
alter table org add constraint org_max_concurrent_check CHECK ((max_concurrent > 0));
alter table org add constraint org_max_schedules_check CHECK ((max_schedules > 0));
alter table org add constraint org_max_timeout_seconds_check CHECK ((max_timeout_seconds > 0));
alter table org add constraint org_pkey PRIMARY KEY (id);
alter table org add constraint org_runs_per_day_check CHECK ((runs_per_day > 0));
alter table pending add constraint pending_flies_with_attempt CHECK (((state <> ALL (ARRAY['assigned'::text, 'running'::text, 'awaiting_callback'::text])) OR (attempt_id IS NOT NULL)));
alter table pending add constraint pending_pkey PRIMARY KEY (org_id, id);
alter table pending add constraint pending_queued_has_place CHECK (((state <> 'queued'::text) OR (seq IS NOT NULL) OR (slot = 'parked'::text)));
alter table pending add constraint pending_runs_on_a_node CHECK (((state <> ALL (ARRAY['assigned'::text, 'running'::text])) OR (node_id IS NOT NULL)));
alter table pending add constraint pending_slot_check CHECK ((slot = ANY (ARRAY['held'::text, 'parked'::text])));
alter table pending add constraint pending_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'queued'::text, 'assigned'::text, 'running'::text, 'awaiting_callback'::text, 'stopping'::text])));
alter table pending add constraint pending_waits_for_something CHECK (((state <> 'waiting'::text) OR (not_before IS NOT NULL)));
alter table probe_answer add constraint probe_answer_answer_check CHECK ((answer = ANY (ARRAY['yes'::text, 'no'::text, 'error'::text])));
alter table probe_answer add constraint probe_answer_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id);
alter table probe_answer add constraint probe_answer_pkey PRIMARY KEY (org_id, run_id);
alter table probe add constraint probe_last_answer_check CHECK ((last_answer = ANY (ARRAY['yes'::text, 'no'::text, 'error'::text])));
alter table probe add constraint probe_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id);
alter table probe add constraint probe_pkey PRIMARY KEY (org_id, subject);
alter table provider add constraint provider_max_concurrent_check CHECK ((max_concurrent > 0));
alter table provider add constraint provider_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id);
alter table provider add constraint provider_pkey PRIMARY KEY (org_id, name);
alter table provider add constraint provider_refusals_check CHECK ((refusals >= 0));
alter table provider add constraint provider_requests_per_minute_check CHECK ((requests_per_minute > 0));
alter table provider add constraint provider_tokens_per_minute_check CHECK ((tokens_per_minute > 0));
alter table pruner add constraint pruner_one_check CHECK (one);
alter table pruner add constraint pruner_pkey PRIMARY KEY (one);
alter table rail_act add constraint rail_act_kind_check CHECK ((kind = ANY (ARRAY['made'::text, 'moved'::text, 'woken'::text, 'task'::text, 'message'::text])));
alter table rail_act add constraint rail_act_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id);
alter table rail_act add constraint rail_act_pkey PRIMARY KEY (org_id, id);
alter table run_count_place add constraint run_count_place_pkey PRIMARY KEY (org_id);
alter table run_count add constraint run_count_count_check CHECK ((count > 0));
alter table run_count add constraint run_count_kind_check CHECK ((kind = ANY (ARRAY['status'::text, 'duration'::text, 'lateness'::text, 'usage'::text, 'probe'::text])));
alter table run_count add constraint run_count_pkey PRIMARY KEY (org_id, hour, kind, key);
alter table run_edit add constraint run_edit_pkey PRIMARY KEY (org_id, run_id);
alter table run_log add constraint run_log_pkey PRIMARY KEY (org_id, run_id, attempt_id, id);
alter table run add constraint run_ended_is_finished CHECK (((state IS NULL) = (finished_at IS NULL)));
alter table run add constraint run_executed_has_attempt CHECK (((state <> ALL (ARRAY['success'::text, 'failed'::text, 'timeout'::text])) OR ((attempt_id IS NOT NULL) AND (started_at IS NOT NULL))));
alter table run add constraint run_pkey PRIMARY KEY (org_id, id);
alter table run add constraint run_refused_has_none CHECK (((state <> ALL (ARRAY['skipped'::text, 'rejected'::text])) OR (attempt_id IS NULL)));
alter table run add constraint run_state CHECK ((state = ANY (ARRAY['success'::text, 'failed'::text, 'timeout'::text, 'cancelled'::text, 'skipped'::text, 'dropped'::text, 'rejected'::text, 'expired'::text])));
alter table schedule add constraint schedule_failure_streak_check CHECK ((failure_streak >= 0));
alter table schedule add constraint schedule_kind_check CHECK ((kind = ANY (ARRAY['at'::text, 'every'::text, 'cron'::text, 'rrule'::text])));
alter table schedule add constraint schedule_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id);
alter table schedule add constraint schedule_pkey PRIMARY KEY (org_id, id);
alter table schedule add constraint schedule_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'finished'::text, 'failed'::text, 'pending_approval'::text])));
alter table sealing_key add constraint sealing_key_pkey PRIMARY KEY (id);
alter table secret add constraint secret_hosts_check CHECK ((cardinality(hosts) > 0));
alter table secret add constraint secret_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id);
alter table secret add constraint secret_pkey PRIMARY KEY (org_id, name);
alter table session add constraint session_behind_check CHECK ((behind >= 0));
alter table session add constraint session_cap_check CHECK ((cap > 0));
alter table session add constraint session_debounce_ms_check CHECK ((debounce_ms >= 0));
alter table session add constraint session_drop_policy_check CHECK ((drop_policy = ANY (ARRAY['old'::text, 'new'::text])));
alter table session add constraint session_key_check CHECK (((octet_length(key) >= 1) AND (octet_length(key) <= 512)));
alter table session add constraint session_max_concurrent_check CHECK ((max_concurrent > 0));
alter table session add constraint session_mode_check CHECK ((mode = ANY (ARRAY['queue'::text, 'followup'::text, 'interrupt'::text])));
alter table session add constraint session_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id);
alter table session add constraint session_pkey PRIMARY KEY (org_id, key);
alter table setting add constraint setting_pkey PRIMARY KEY (path);
alter table sign_in add constraint sign_in_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES member(org_id, id) ON DELETE CASCADE;
alter table sign_in add constraint sign_in_pkey PRIMARY KEY (token_hash);
alter table sign_in add constraint sign_in_token_hash_check CHECK ((octet_length(token_hash) = 32));
alter table signing_secret add constraint signing_secret_is_kept CHECK ((num_nonnulls(secret, sealed) = 1));
alter table signing_secret add constraint signing_secret_pkey PRIMARY KEY (org_id);
alter table signing_secret add constraint signing_secret_previous_ends CHECK ((((previous IS NULL) AND (previous_sealed IS NULL)) = (previous_until IS NULL)));
alter table signing_secret add constraint signing_secret_previous_once CHECK ((num_nonnulls(previous, previous_sealed) < 2));
alter table target add constraint target_failures_in_a_row_check CHECK ((failures_in_a_row >= 0));
alter table target add constraint target_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id);
alter table target add constraint target_pkey PRIMARY KEY (org_id, id);
alter table task_count_place add constraint task_count_place_pkey PRIMARY KEY (org_id);
alter table task_count add constraint task_count_pkey PRIMARY KEY (org_id, agent_id);
alter table timeline_count_place add constraint timeline_count_place_pkey PRIMARY KEY (org_id);
alter table timeline_count add constraint timeline_count_count_check CHECK ((count > 0));
alter table timeline_count add constraint timeline_count_pkey PRIMARY KEY (org_id, step, line, at, state);
alter table timeline_count add constraint timeline_count_step_check CHECK ((step = ANY (ARRAY['minute'::text, 'hour'::text, 'day'::text])));
alter table turn_default add constraint turn_default_pkey PRIMARY KEY (org_id, no);
alter table unsuccessful_run add constraint unsuccessful_run_pkey PRIMARY KEY (org_id, state, created_at, id) INCLUDE (agent_id, trigger);
alter table usage add constraint usage_pkey PRIMARY KEY (org_id, budget_id, period_start);
alter table usage add constraint usage_used_check CHECK ((used >= 0));
alter table worker_attempt add constraint worker_attempt_pkey PRIMARY KEY (org_id, id);
alter table worker add constraint worker_capacity_check CHECK ((capacity > 0));
alter table worker add constraint worker_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id);
alter table worker add constraint worker_pkey PRIMARY KEY (org_id, id);

CREATE INDEX alert_by_kind ON alert USING btree (org_id, kind, raised_at, id);
CREATE INDEX alert_by_subject ON alert USING btree (org_id, subject_id, raised_at, id);
CREATE INDEX alert_list ON alert USING btree (org_id, raised_at, id);
CREATE UNIQUE INDEX alert_open ON alert USING btree (org_id, kind, subject_id) WHERE (cleared_at IS NULL);
CREATE INDEX audit_by_actor ON audit USING btree (org_id, actor, no);
CREATE INDEX audit_by_object ON audit USING btree (org_id, object_kind, object_id, no);
CREATE INDEX backfill_by_age ON backfill USING btree (org_id, created_at, id);
CREATE UNIQUE INDEX backfill_of_schedule ON backfill USING btree (org_id, schedule_id) WHERE (state = 'running'::text);
CREATE INDEX backfill_open ON backfill USING btree (org_id, id) WHERE ((state = 'running'::text) OR (in_flight <> '{}'::text[]));
CREATE INDEX backlog_line_order ON backlog USING btree (org_id, agent_id, lane, executor_key, kind, behind, priority, created_at, id);
CREATE INDEX backlog_session_order ON backlog USING btree (org_id, session_key, seq, id) WHERE (session_key IS NOT NULL);
CREATE INDEX backlog_wake ON backlog USING btree (org_id, wake_at, id) WHERE (wake_at IS NOT NULL);
CREATE INDEX budget_of_scope ON budget USING btree (org_id, scope, scope_id);
CREATE INDEX callback_by_age ON callback USING btree (created_at);
CREATE INDEX callback_to_poll ON callback USING btree (poll_at) WHERE (poll_at IS NOT NULL);
CREATE UNIQUE INDEX channel_by_id ON channel USING btree (id);
CREATE INDEX channel_list ON channel USING btree (org_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX channel_name ON channel USING btree (org_id, name);
CREATE INDEX chat_mark_by_channel ON chat_mark USING btree (channel_id, created_at);
CREATE INDEX chat_by_agent ON chat USING btree (org_id, agent_id, heard_at DESC);
CREATE INDEX chat_by_session ON chat USING btree (org_id, session_key);
CREATE INDEX console_session_by_age ON console_session USING btree (expires_at);
CREATE INDEX console_session_by_key ON console_session USING btree (org_id, key_id) WHERE (key_id IS NOT NULL);
CREATE INDEX console_session_by_member ON console_session USING btree (org_id, member_id);
CREATE INDEX delivery_by_state ON delivery USING btree (org_id, state, created_at, id) WHERE (state <> 'delivered'::text);
CREATE INDEX delivery_by_target ON delivery USING btree (org_id, target_id, created_at, id) WHERE (target_id IS NOT NULL);
CREATE INDEX delivery_due ON delivery USING btree (org_id, line, next_try_at, id) WHERE (state = 'pending'::text);
CREATE INDEX delivery_ended ON delivery USING btree (org_id, kind, finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX delivery_held ON delivery USING btree (org_id, target_id) WHERE (state = ANY (ARRAY['pending'::text, 'held'::text]));
CREATE INDEX delivery_in_digest ON delivery USING btree (org_id, digest_id, created_at, id) WHERE (digest_id IS NOT NULL);
CREATE INDEX delivery_list ON delivery USING btree (org_id, created_at, id);
CREATE INDEX delivery_next ON delivery USING btree (next_try_at) WHERE (state = 'pending'::text);
CREATE INDEX delivery_of_run ON delivery USING btree (org_id, run_id);
CREATE INDEX delivery_quiet ON delivery USING btree (next_try_at) WHERE ((state = 'held'::text) AND (next_try_at IS NOT NULL));
CREATE INDEX delivery_unfinished ON delivery USING btree (org_id, run_id) WHERE (finished_at IS NULL);
CREATE INDEX heartbeat_log_list ON heartbeat_log USING btree (org_id, agent_id, at, id);
CREATE INDEX heartbeat_log_old ON heartbeat_log USING btree (org_id, last_at);
CREATE INDEX heartbeat_log_sent ON heartbeat_log USING btree (org_id, agent_id, target) WHERE (delivery_id IS NOT NULL);
CREATE INDEX heartbeat_log_session ON heartbeat_log USING btree (org_id, session_key, finished_at) WHERE (session_key IS NOT NULL);
CREATE INDEX heartbeat_next ON heartbeat USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX idempotency_by_age ON idempotency USING btree (created_at);
CREATE UNIQUE INDEX member_email ON member USING btree (org_id, lower(email)) WHERE (email IS NOT NULL);
CREATE INDEX rail_act_by_age ON rail_act USING btree (at);
CREATE INDEX rail_act_by_moment ON rail_act USING btree (org_id, owner, moment) WHERE (moment IS NOT NULL);
CREATE INDEX rail_act_by_owner ON rail_act USING btree (org_id, owner, at);
CREATE INDEX rail_act_by_schedule ON rail_act USING btree (org_id, schedule_id, at) WHERE (schedule_id IS NOT NULL);
CREATE INDEX run_by_age ON run USING btree (org_id, created_at, id);
CREATE INDEX run_by_agent ON run USING btree (org_id, agent_id, created_at, id);
CREATE INDEX run_by_owner ON run USING btree (org_id, owner, created_at, id) WHERE (owner IS NOT NULL);
CREATE INDEX run_by_parent ON run USING btree (org_id, parent_run_id, created_at, id) WHERE (parent_run_id IS NOT NULL);
CREATE INDEX run_by_schedule ON run USING btree (org_id, schedule_id, created_at, id) WHERE (schedule_id IS NOT NULL);
CREATE INDEX run_by_session ON run USING btree (org_id, session_key, created_at, id) WHERE (session_key IS NOT NULL);
CREATE INDEX run_by_trigger ON run USING btree (org_id, trigger, created_at, id) WHERE (trigger <> ALL (ARRAY['message'::text, 'task'::text]));
CREATE INDEX run_tasks ON run USING btree (org_id, created_at, id) WHERE (trigger = 'task'::text);
CREATE INDEX schedule_by_creator ON schedule USING btree (org_id, created_by_run, created_at, id) WHERE (created_by_run IS NOT NULL);
CREATE INDEX schedule_by_owner ON schedule USING btree (org_id, owner, created_at DESC, id) WHERE (owner IS NOT NULL);
CREATE INDEX schedule_by_target ON schedule USING btree (org_id, (((input -> 'delivery'::text) ->> 'target_id'::text))) WHERE (input ? 'delivery'::text);
CREATE INDEX schedule_due ON schedule USING btree (next_run_at) WHERE ((state = 'active'::text) AND (next_run_at IS NOT NULL));
CREATE INDEX schedule_list ON schedule USING btree (org_id, created_at DESC, id);
CREATE UNIQUE INDEX sealing_key_in_use ON sealing_key USING btree ((true)) WHERE (replaced_at IS NULL);
CREATE INDEX session_list ON session USING btree (org_id, created_at DESC, key DESC);
CREATE INDEX sign_in_by_age ON sign_in USING btree (expires_at);
CREATE INDEX sign_in_by_member ON sign_in USING btree (org_id, member_id);
CREATE INDEX target_list ON target USING btree (org_id, created_at DESC, id DESC);
CREATE INDEX target_of_alerts ON target USING btree (org_id) WHERE alerts;
CREATE INDEX task_count_recent ON task_count USING btree (org_id, counted_at DESC);
CREATE INDEX timeline_count_by_time ON timeline_count USING btree (org_id, step, at, line);
CREATE INDEX timeline_count_failed ON timeline_count USING btree (org_id, step, at, line) WHERE (state = ANY (ARRAY['failed'::text, 'timeout'::text]));
CREATE INDEX turn_default_by_time ON turn_default USING btree (at);
CREATE INDEX unsuccessful_run_by_agent_error ON unsuccessful_run USING btree (org_id, agent_error_code, created_at, id) WHERE (agent_error_code IS NOT NULL);
CREATE INDEX worker_attempt_by_age ON worker_attempt USING btree (assigned_at);

CREATE OR REPLACE FUNCTION begin_history(org text, number bigint, written_at timestamp with time zone, node text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  if number = 1 then
    insert into org_version (org_id, no, at, node_id) values (org, number, written_at, node)
    on conflict (org_id) do nothing;
    if found then
      return true;
    end if;
  end if;
  raise unique_violation using
    message = format('turn %s of org %s is not the next one', number, org),
    constraint = 'turn_pkey', table = 'turn';
end $function$
;
CREATE OR REPLACE FUNCTION keep_turn()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  return null;
end $function$
;
CREATE OR REPLACE FUNCTION list_unsuccessful_run()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into unsuccessful_run (org_id, state, created_at, id, agent_id, trigger, agent_error_code)
  values (new.org_id, new.state, new.created_at, new.id, new.agent_id, new.trigger, new.reported ->> 'error_code')
  on conflict do nothing;
  return null;
end $function$
;
CREATE OR REPLACE FUNCTION measure_payload()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.payload_bytes := octet_length(new.payload::text);
  return new;
end
$function$
;
CREATE OR REPLACE FUNCTION refuse_change_of_audit()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'the audit log is only ever added to' using errcode = 'integrity_constraint_violation';
end
$function$
;
CREATE OR REPLACE FUNCTION refuse_node_without_backlog()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'this node is of an earlier release than the database: restart it with the present one';
end $function$
;
CREATE OR REPLACE FUNCTION refuse_unknown_rows()
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
begin
  raise exception using errcode = 'ESC01', message = 'rows that this transaction was decided by are not on record';
end $function$
;
CREATE OR REPLACE FUNCTION set_org_version()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update org_version set no = new.no, at = new.at, node_id = new.node_id
   where org_id = new.org_id and no = new.no - 1;
  if not found then
    perform begin_history(new.org_id, new.no, new.at, new.node_id);
  end if;
  return new;
end $function$
;
CREATE OR REPLACE FUNCTION unlist_unsuccessful_run()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from unsuccessful_run
   where org_id = old.org_id and state = old.state and created_at = old.created_at and id = old.id;
  return null;
end $function$
;

CREATE TRIGGER audit_head_is_kept BEFORE DELETE ON audit_head FOR EACH ROW EXECUTE FUNCTION refuse_change_of_audit();
CREATE TRIGGER audit_head_is_not_emptied BEFORE TRUNCATE ON audit_head FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit();
CREATE TRIGGER audit_is_kept BEFORE DELETE OR UPDATE ON audit FOR EACH ROW EXECUTE FUNCTION refuse_change_of_audit();
CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit();
CREATE TRIGGER node_reads_backlog BEFORE INSERT ON node FOR EACH ROW WHEN ((NOT new.backlog)) EXECUTE FUNCTION refuse_node_without_backlog();
CREATE TRIGGER run_ends_unsuccessful AFTER UPDATE OF state ON run FOR EACH ROW WHEN ((new.state <> 'success'::text)) EXECUTE FUNCTION list_unsuccessful_run();
CREATE TRIGGER run_is_made_unsuccessful AFTER INSERT ON run FOR EACH ROW WHEN ((new.state <> 'success'::text)) EXECUTE FUNCTION list_unsuccessful_run();
CREATE TRIGGER unsuccessful_run_is_gone AFTER DELETE ON run FOR EACH ROW WHEN ((old.state <> 'success'::text)) EXECUTE FUNCTION unlist_unsuccessful_run();
CREATE TRIGGER schedule_payload_bytes BEFORE INSERT OR UPDATE OF payload ON schedule FOR EACH ROW EXECUTE FUNCTION measure_payload();
CREATE TRIGGER turn_is_not_removed_by_place BEFORE DELETE ON turn_default FOR EACH ROW WHEN ((current_query() ~~ 'delete from turn where ctid = any%'::text)) EXECUTE FUNCTION keep_turn();
CREATE TRIGGER turn_sets_org_version BEFORE INSERT ON turn_default FOR EACH ROW WHEN ((current_query() !~~ 'with version as (%'::text)) EXECUTE FUNCTION set_org_version();
CREATE TRIGGER turn_is_not_removed_by_place BEFORE DELETE ON turn FOR EACH ROW WHEN ((current_query() ~~ 'delete from turn where ctid = any%'::text)) EXECUTE FUNCTION keep_turn();
CREATE TRIGGER turn_sets_org_version BEFORE INSERT ON turn FOR EACH ROW WHEN ((current_query() !~~ 'with version as (%'::text)) EXECUTE FUNCTION set_org_version();
