-- The hot part of the schema and its statements, as decided in docs/adr/0012-hot-queue-shape.md (shape D).
--
-- This file is a proposal in SQL, not a migration. $n are parameters; `number` is a sequence. The figures are shared
-- buffers per run, counted with `explain (analyze, buffers)` in turns of 100 to 500 runs (bench/queue-shapes/run.mjs).
--
-- Rules that all statements rely on:
--   1. Whoever writes queue, ready, active or stand of an org holds that org's advisory lock (transaction scoped). The
--      lock is a statement of its own, before the first load, so that every later snapshot sees its last holder's work.
--   2. Numbers (seq, place, no, claim_no) are drawn from one sequence with cache 1 while the lock is held. So within an
--      org number order is commit order, and whatever becomes visible later has a higher number than all before it.
--      This is what makes a low-water mark safe: a stale mark is too low, never too high, whichever node holds it.
--   3. Marks are hints in a node's memory (lineMark, heldMark per org and lane; claimMark per org; one per session lately
--      seen) or columns of a stand. They are never rows that are updated: a row updated on each turn is itself what rots
--      under a pinned horizon. A mark learnt inside a transaction is adopted after its commit, and all are forgotten when
--      a connection breaks: a server that comes back may have lost numbers of transactions that never committed.
--   4. Engine connections set: plan_cache_mode = force_generic_plan, enable_seqscan = enable_hashjoin =
--      enable_mergejoin = enable_bitmapscan = jit = off. Hot tables swing between empty and a million rows faster than
--      statistics follow; with statistics of the wrong moment one settle touched 949,000 buffers instead of 13,000.
--      Rows are found by one key in a scalar subquery, then written by ctid; that form has one sensible plan.
--   5. Keys are short. The number of an agent in a lane (line_no) and of a session (session_no) stand in the hot indexes
--      instead of org, lane and name: 46 → 39 µs of server time per run. Both numbers are made once and never change, so a
--      node remembers them. Text keys are collate "C": comparisons are memcmp, and order is the same on every server.

-- ── Tables ──────────────────────────────────────────────────────────────────────────────────────────────────────────

create sequence number as bigint cache 1;

-- The number of an agent in a lane, made when the first run of it is admitted (insert … on conflict do nothing, then
-- select; `agentId` of a task is free text). `session.no` is the same for sessions.
create table line (
  no bigint generated always as identity primary key,
  org_id text collate "C" not null,
  lane text collate "C" not null,
  agent_id text collate "C" not null,
  unique (org_id, lane, agent_id)
);

-- Identity, payload, admission decision, first attempt and last outcome. Written when the run is admitted and once more
-- when it ends. `state` is null exactly while the run is pending; its pending state is then read from active or queue
-- (view run_now). No index may name a column that the ending writes (state, finished_at, …), also not in a predicate:
-- then the ending is a HOT update, and fillfactor leaves room for it in the same page.
create table run (
  org_id text collate "C" not null,
  id uuid not null,                            -- version 7, made by the node before the commit: id order is creation order
  lane text collate "C" not null,
  agent_id text collate "C" not null,
  session_key text collate "C",
  schedule_id text collate "C",
  trigger text not null,
  priority int not null,
  created_at timestamptz not null,
  nominal_at timestamptz,
  deadline timestamptz,
  first_attempt smallint not null default 1,
  payload jsonb not null,
  decision jsonb not null,                    -- why it was admitted, skipped or rejected
  -- the ending; all null before it
  state text,
  attempt smallint,
  attempt_id uuid,
  node_id text,
  started_at timestamptz,
  finished_at timestamptz,
  reason text,
  error_code text,
  output text,
  usage jsonb,
  primary key (org_id, id),                    -- also the list of an org's runs, newest last
  constraint run_state check (state in ('success','failed','timeout','cancelled','skipped','dropped','rejected','expired')),
  constraint run_terminal_is_finished check ((state is null) = (finished_at is null)),
  constraint run_executed_has_attempt check (state not in ('success','failed','timeout') or (attempt_id is not null and started_at is not null)),
  constraint run_unexecuted_has_none check (state not in ('skipped','rejected') or attempt_id is null)
) with (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);
create index run_by_agent on run (org_id, agent_id, id);
create index run_by_session on run (org_id, session_key, id) where session_key is not null;
create index run_by_schedule on run (org_id, schedule_id, id) where schedule_id is not null;
create index run_tasks on run (org_id, id) where trigger = 'task';       -- for their short retention

-- Everything pending, from admission to the ending. Not touched in between, except by a retry, a timer or a slot.
--   waiting  = not_before is not null            queued = not_before is null and no row in active
--   parked   = waits for a slot of its schedule: no seq, so no place in its session (hasPlace)
create table queue (
  id uuid primary key,
  org_id text collate "C" not null,
  lane text collate "C" not null,
  agent_id text collate "C" not null,
  line_no bigint not null,
  session_no bigint,
  schedule_id text collate "C",
  trigger text not null,
  priority int not null,
  created_at timestamptz not null,
  seq bigint,
  not_before timestamptz,
  deadline timestamptz,
  attempt smallint not null default 1,
  first_attempt smallint not null default 1,
  parked boolean not null default false,
  interrupts boolean not null default false,
  set_aside text,                              -- the budget or executor whose gate refused it; see "set aside"
  constraint queue_attempt check (attempt >= first_attempt),
  constraint queue_retry_has_started check (attempt = first_attempt or seq is not null),
  -- Debouncing, delayed and parked runs have no place yet; a run in retry back-off keeps its own.
  constraint queue_waiting_has_no_place check (not_before is null or seq is null or attempt > first_attempt),
  constraint queue_parked_has_no_place check (not parked or (seq is null and schedule_id is not null)),
  constraint queue_due_has_place check (seq is not null or not_before is not null or parked)
);
create index queue_session on queue (session_no, seq) where session_no is not null and seq is not null;
create index queue_buffered on queue (session_no, created_at) where session_no is not null and seq is null;
create index queue_due on queue (not_before) where not_before is not null;
create index queue_deadline on queue (deadline) where deadline is not null;
create index queue_parked on queue (org_id, schedule_id, created_at, id) where parked;
create index queue_set_aside on queue (org_id, set_aside) where set_aside is not null;

-- The heads that compete: first of their session, session below its limit, due, with their schedule slot, nothing to wait
-- for but agent, org and lane. `kind` keeps apart what has limits of its own (0 other, 1 task, 2 catchup), so that a full
-- task limit never hides a message behind tasks.
create table ready (
  id uuid primary key,
  org_id text collate "C" not null,
  lane text collate "C" not null,
  agent_id text collate "C" not null,
  line_no bigint not null,
  session_no bigint,
  trigger text not null,
  kind smallint not null,
  priority int not null,
  created_at timestamptz not null,
  seq bigint not null,
  place bigint not null,                       -- drawn when it came up: never below an older one
  attempt smallint not null
);
create index ready_heads on ready (line_no, kind, priority, place);

-- Attempts in flight. The lease is the node's (or worker's), so nothing here is renewed.
create table active (
  id uuid primary key,
  org_id text collate "C" not null,
  lane text collate "C" not null,
  agent_id text collate "C" not null,
  line_no bigint not null,
  session_no bigint,
  schedule_id text collate "C",
  trigger text not null,
  seq bigint not null,
  claim_no bigint not null,
  state text not null,
  attempt smallint not null,
  attempt_id uuid not null,
  node_id text not null,
  worker_id text,
  started_at timestamptz,
  ends_by timestamptz,                         -- timeout, callback deadline or stop grace, whichever holds now
  constraint active_state check (state in ('assigned','running','awaiting_callback','stopping')),
  constraint active_assigned_is_a_workers check (state <> 'assigned' or (worker_id is not null and started_at is null)),
  constraint active_started check (state = 'assigned' or started_at is not null)
) with (fillfactor = 80);                      -- running → stopping stays in its page
create index active_claims on active (org_id, claim_no);

-- The line of a lane: one row per agent with heads in it. `held` while the agent has no room (or no executor). kinds,
-- levels, marks are parallel: for each kind and priority in use, the place below which it has nothing left in `ready`.
create table stand (
  org_id text collate "C" not null,
  lane text collate "C" not null,
  agent_id text collate "C" not null,
  line_no bigint not null,
  no bigint not null,
  held boolean not null default false,
  kinds smallint[] not null,
  levels int[] not null,
  marks bigint[] not null,
  constraint stand_parallel check (cardinality(kinds) = cardinality(levels) and cardinality(levels) = cardinality(marks) and cardinality(marks) > 0)
);
create index stand_line on stand (org_id, lane, held, no);
create index stand_agent on stand (line_no, no);
-- No unique key on the agent: its check would walk every dead version. The lock and `no_stand` keep it to one, and the
-- audit at the end of this file proves it.

-- Small tables that turn over fast: vacuum by count, at once, without giving pages back (that needs an exclusive lock).
alter table queue  set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000, vacuum_truncate = false);
alter table ready  set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000, vacuum_truncate = false);
alter table active set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000, vacuum_truncate = false);
alter table stand  set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000, vacuum_truncate = false);

create view run_now as
  select r.*, coalesce(r.state, a.state, case when q.not_before is null then 'queued' else 'waiting' end) as current_state,
         a.claim_no, a.ends_by, q.seq, q.not_before, q.parked, q.set_aside
    from run r left join queue q on r.state is null and q.id = r.id left join active a on r.state is null and a.id = r.id;

-- ── Submit: group commit, one transaction per org ───────────────────────────────────────────────────────────────────

-- lock. Contract: first statement of every writing transaction; the turn uses pg_try_advisory_xact_lock instead.
select pg_advisory_xact_lock($1);

-- load_sessions. Contract: for each session in the batch what admission looks at: its pending runs, newest first, at most
-- cap + limit + 1 of them. The mark is a hint in the node's memory (bounded, least recently used goes): below it the session
-- has nothing left. A session found idle gets the sequence's last value as its mark. Without it every look at an idle
-- session walks all it ever had since the last vacuum.
select s.session_no, p.* from unnest($2::bigint[], $4::bigint[]) as s (session_no, mark) cross join lateral (
  select q.id, q.seq, q.attempt > q.first_attempt as retrying, (select a.state from active a where a.id = q.id) as active
    from queue q where q.session_no = s.session_no and q.seq >= s.mark and q.org_id = $1
   order by q.seq desc limit $3) p;

-- insert_runs. Contract: all accepted runs of the group; `head` was decided from load_sessions. seq is null for buffered,
-- delayed and parked runs. An agent that gets its first head joins the end of the line. 35 µs of server time per run in groups of 32.
with s as materialized (
  select *, case when placed then nextval('number') end as number
    from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[], $9::timestamptz[], $10::timestamptz[],
                $11::timestamptz[], $12::timestamptz[], $13::smallint[], $14::boolean[], $15::boolean[], $16::jsonb[], $17::jsonb[],
                $18::boolean[], $19::boolean[], $20::smallint[], $21::bigint[], $22::bigint[])
      as s (id, lane, agent_id, session_key, schedule_id, trigger, priority, created_at, nominal_at,
            not_before, deadline, first_attempt, parked, interrupts, payload, decision,
            placed, head, kind, line_no, session_no)),
facts as (
  insert into run (id, org_id, lane, agent_id, session_key, schedule_id, trigger, priority, created_at, nominal_at, deadline, first_attempt, payload, decision)
  select id, $1, lane, agent_id, session_key, schedule_id, trigger, priority, created_at, nominal_at, deadline, first_attempt, payload, decision from s),
queued as (
  insert into queue (id, org_id, lane, agent_id, line_no, session_no, schedule_id, trigger, priority, created_at, seq, not_before, deadline, attempt, first_attempt, parked, interrupts)
  select id, $1, lane, agent_id, line_no, session_no, schedule_id, trigger, priority, created_at, number, not_before, deadline, first_attempt, first_attempt, parked, interrupts from s),
heads as (
  insert into ready (id, org_id, lane, agent_id, line_no, session_no, trigger, kind, priority, created_at, seq, place, attempt)
  select id, $1, lane, agent_id, line_no, session_no, trigger, kind, priority, created_at, number, number, first_attempt from s where head)
insert into stand (org_id, lane, agent_id, line_no, no, kinds, levels, marks)
select $1, lane, agent_id, line_no, nextval('number'), kinds, levels, marks
  from (select lane, agent_id, line_no, array_agg(kind order by kind, priority) as kinds, array_agg(priority order by kind, priority) as levels,
               array_agg(mark order by kind, priority) as marks
          from (select lane, agent_id, line_no, kind, priority, min(number) as mark from s where head group by 1, 2, 3, 4, 5) l
         group by lane, agent_id, line_no order by min(mark)) a
 where (select true from stand t where t.line_no = a.line_no and t.no >= $23 /* min(lineMark, heldMark) */
         order by t.no desc limit 1) is null;                                                                  -- no_stand

-- widen_stand. Contract: an agent in the line got a head of a kind or priority its stand does not list. Same `no`: it keeps
-- its place in the line. Rare: only when priorities or kinds mix.
update stand t set kinds = w.kinds, levels = w.levels, marks = w.marks
  from jsonb_to_recordset($2) as w (at tid, kinds smallint[], levels int[], marks bigint[]) where t.ctid = w.at and t.org_id = $1;

-- ── Turn ────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- settle. Contract: ends every reported attempt that is still the current one; a report for any other attempt changes
-- nothing (its id is missing from `ended`, the caller records `stale_report`). The next of each session comes up when the
-- session has room: here for limit 1; sessions with a higher limit, a throttle or an interrupt waiting are decided by the
-- core from load_sessions and promoted by promote_heads. 18–21 buffers per run, 28–31 with a next head to bring up.
with d as materialized (
  select d.*, (select case when a.org_id = $1 and a.attempt_id = d.attempt_id then a.ctid end from active a where a.id = d.id) as active,
         (select q.ctid from queue q where q.id = d.id) as queued, (select r.ctid from run r where r.org_id = $1 and r.id = d.id) as run
    from unnest($3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::jsonb[]) as d (id, attempt_id, state, error_code, output, usage)),
ended as (
  delete from active a using d where a.ctid = d.active
  returning a.agent_id, a.session_no, a.schedule_id, a.seq, a.attempt, a.node_id, a.started_at, d.*),
gone as (delete from queue where ctid = any(array(select queued from ended))),
outcome as (
  update run r set state = e.state, finished_at = $2, error_code = e.error_code, output = e.output, usage = e.usage,
                   attempt = e.attempt, attempt_id = e.attempt_id, node_id = e.node_id, started_at = e.started_at
    from ended e where r.ctid = e.run),
promoted as (
  insert into ready (id, org_id, lane, agent_id, line_no, session_no, trigger, kind, priority, created_at, seq, place, attempt)
  select n.id, $1, n.lane, n.agent_id, n.line_no, n.session_no, n.trigger, case n.trigger when 'task' then 1 when 'catchup' then 2 else 0 end,
         n.priority, n.created_at, n.seq, nextval('number'), n.attempt
    from ended e cross join lateral (
      select * from queue q where q.session_no = e.session_no and q.seq > e.seq order by q.seq limit 1) n
   where n.not_before is null
  returning lane, agent_id, line_no, kind, priority, place)
select 'ended' as what, id, agent_id, schedule_id, null as lane, null as line_no, null as kind, null as priority, null as place from ended
union all select 'head', null, agent_id, null, lane, line_no, kind, priority, place from promoted;

-- settle_retry. Contract: an attempt that failed and will be tried again: out of `active`, `queue` waits with the next
-- attempt number and keeps seq, so it keeps its session slot and its place. From attempt 2 on the ended attempt gets a row.
with gone as (delete from active where ctid = any($2::tid[]) returning id)
update queue set not_before = $3, attempt = attempt + 1 where ctid = any($4::tid[]) and org_id = $1;

-- load_active. Contract: all that counts against agent, org, task, lane and catch-up limits, from rows. One or two buffers
-- per run in flight; the mark skips what has ended. When claim numbers span more than 8 × the live rows + 10,000, the turn
-- runs renew_laggards first.
select lane, agent_id, trigger, node_id, worker_id is null and state in ('running','stopping') as holds_lane, count(*)::int as count, min(claim_no) as mark
  from active where org_id = $1 and claim_no >= $2 group by 1, 2, 3, 4, 5;

-- renew_laggards. Contract: long-running attempts get a fresh claim number so that the mark can pass what ended since.
-- The same statement with `no` does it for held stands. One update per laggard per 8 × live claims: nothing per run.
update active set claim_no = nextval('number') where ctid = any(array(
  select ctid from active where org_id = $1 and claim_no >= $2 order by claim_no limit $3));

-- release_stands. Contract: agents that were full before this settle have room again. Only called for those.
update stand set held = false, no = nextval('number') where ctid = any(array(
  select (select case when t.held and t.org_id = $1 then t.ctid end from stand t where t.line_no = a.line_no order by t.no desc limit 1)
    from unnest($2::bigint[]) as a (line_no)));

-- load_line. Contract: the front of the line of each lane with free slots, unserved longest first. With room =
-- slots + agents in flight + 16 it holds, of the agents with the fewest in flight, as many as there are slots, or
-- everybody: so the choice of agents is exact. 0.1 buffers per agent.
select l.lane, s.* from unnest($2::text[], $3::bigint[], $4::int[]) as l (lane, mark, room) cross join lateral (
  select ctid, agent_id, line_no, no, kinds, levels, marks from stand t
   where t.org_id = $1 and t.lane = l.lane and not t.held and t.no >= l.mark order by t.no limit l.room) s;

-- load_unlisted. Contract: of the agents promoted in this turn and not in the front of the line, those without a stand.
-- Needed only when the line is longer than its front.
select a.line_no from unnest($1::bigint[], $2::bigint[]) as a (line_no, mark)
 where (select true from stand t where t.line_no = a.line_no and t.no >= a.mark order by t.no desc limit 1) is null;

-- load_heads. Contract: for each agent, kind and priority the oldest heads, as many as the agent can get when the slots are
-- filled level by level, fewest in flight first. 3–4 buffers per agent.
select h.*, s.served from unnest($2::bigint[], $3::smallint[], $4::int[], $5::bigint[], $6::int[], $7::bigint[]) as s (line_no, kind, level, mark, share, served)
 cross join lateral (
  select ctid, id, lane, agent_id, line_no, session_no, trigger, priority, created_at, seq, place, attempt from ready q
   where q.line_no = s.line_no and q.kind = s.kind and q.priority = s.level and q.place >= s.mark and q.org_id = $1
   order by q.place limit s.share) h;

-- claim. Contract: starts exactly the picked heads; the number of rows must equal the number picked or the transaction is
-- given up. Served agents leave the line and come back at its end while they have heads left (held when now full); their
-- new marks are the lowest place not picked, or one above the last picked. Attempt ids are made by the node. 11–19 buffers
-- per run: 11 when agents get several at once, 19 when each run is another agent's.
with gone as (delete from stand where ctid = any($2::tid[]) and org_id = $1),
back as (
  insert into stand (org_id, lane, agent_id, line_no, no, held, kinds, levels, marks)
  select $1, b.lane, b.agent_id, b.line_no, nextval('number'), b.held, b.kinds, b.levels, b.marks
    from jsonb_to_recordset($3) as b (lane text, agent_id text, line_no bigint, held boolean, kinds smallint[], levels int[], marks bigint[])),
taken as (
  delete from ready q using unnest($4::tid[], $5::uuid[]) as p (at, attempt_id) where q.ctid = p.at returning q.*, p.attempt_id),
claimed as (
  insert into active (id, org_id, lane, agent_id, line_no, session_no, trigger, seq, claim_no, state, attempt, attempt_id, node_id, started_at, ends_by)
  select id, org_id, lane, agent_id, line_no, session_no, trigger, seq, nextval('number'), 'running', attempt, attempt_id, $6, $7, $8 from taken
  returning id, attempt, attempt_id)
select c.*, (select r.payload from run r where r.org_id = $1 and r.id = c.id) as payload from claimed c;

-- ── What makes a run a head ─────────────────────────────────────────────────────────────────────────────────────────

-- promote_heads. Contract: the core names runs that may compete from now on: next of a session whose limit grew, whose
-- throttle ended, whose interrupted runs are gone, whose head was cancelled or dropped; a retry that is due. Each gets a
-- fresh place. The caller sees to the stands as in the turn. Already ready: nothing happens.
insert into ready (id, org_id, lane, agent_id, line_no, session_no, trigger, kind, priority, created_at, seq, place, attempt)
select q.id, q.org_id, q.lane, q.agent_id, q.line_no, q.session_no, q.trigger, case q.trigger when 'task' then 1 when 'catchup' then 2 else 0 end,
       q.priority, q.created_at, q.seq, nextval('number'), q.attempt
  from queue q where q.org_id = $1 and q.id = any($2::uuid[]) and q.seq is not null and q.not_before is null
on conflict (id) do nothing returning lane, agent_id, line_no, kind, priority, place;

-- demote. Contract: a head that must not start after all (cancelled, dropped, set aside, session throttled). Its agent's
-- stand may now find nothing: the next turn that reads it lets it go.
delete from ready where org_id = $1 and id = any($2::uuid[]);

-- set_aside / put_back. Contract: a head refused by a budget or for want of an executor leaves `ready` until the event that
-- opens the gate (new period, raised budget, node registered) puts it back: blocked work is not looked at on each turn.
update queue set set_aside = $3 where org_id = $1 and id = any($2::uuid[]);
update queue set set_aside = null where ctid = any(array(select ctid from queue where org_id = $1 and set_aside = $2 limit $3)) returning id;

-- ── Timers ──────────────────────────────────────────────────────────────────────────────────────────────────────────

-- find_due. Contract: orgs with runs whose not-before has passed; no lock. $1 is now, $2 the mark: the earliest seen alive
-- last time, or now − 60 s. (No transaction lives longer, and none writes a not_before in its past.)
select distinct org_id from (select org_id from queue where not_before >= $2 and not_before <= $1 order by not_before limit 1000) d;

-- queue_due. Contract: under the lock of the org: due runs get their place in the session unless they kept one; returned to
-- the core, which names the heads among them.
update queue set not_before = null, seq = coalesce(seq, nextval('number'))
 where ctid = any(array(select ctid from queue where not_before >= $2 and not_before <= $3 and org_id = $1 order by not_before limit 1000))
returning id, session_no, seq, attempt > first_attempt as retrying;

-- next_timer. Contract: when the loop has to wake next.
select least((select not_before from queue where not_before > $1 order by not_before limit 1), (select deadline from queue where deadline > $1 order by deadline limit 1));

-- expire. Contract: under the lock: pending runs past their deadline that nobody executes end `expired` at their deadline.
-- What is in `active` is ended by its own timeout. Every entry of the index is passed once: the mark is the last `now`.
with late as materialized (
  select q.ctid as at, q.id, q.deadline, q.session_no, q.seq, q.agent_id, (select r.ctid from run r where r.org_id = $1 and r.id = q.id) as run
    from queue q where q.deadline >= $2 and q.deadline <= $3 and q.org_id = $1 and (select true from active a where a.id = q.id) is null
   order by q.deadline limit 1000),
gone as (delete from queue where ctid = any(array(select at from late))),
unready as (delete from ready where id = any(array(select id from late))),
outcome as (update run r set state = 'expired', finished_at = l.deadline, reason = 'deadline' from late l where r.ctid = l.run)
select id, session_no, seq, agent_id from late;

-- give_slot. Contract: the transaction that freed a slot of a schedule gives it to the oldest parked run, which only now
-- gets a place in its session.
update queue set parked = false, seq = nextval('number')
 where ctid = (select ctid from queue where org_id = $1 and schedule_id = $2 and parked order by created_at, id limit 1)
returning id, session_no, seq;

-- ── Recovery and retention ──────────────────────────────────────────────────────────────────────────────────────────

-- load_lapsed. Contract: attempts whose node or worker has let its lease lapse, by org; each org is then locked, the rows
-- are read again, and core.retry decides: settle_retry or settle. No index on node: this scans `active`, which is small,
-- and only when a lease has lapsed.
select a.org_id, a.id, a.attempt_id from active a
 where coalesce(a.worker_id, a.node_id) in (select holder from lease where expires_at < $1) order by a.org_id, a.claim_no;

-- prune. Contract: at most $4 ended runs of the org created in [$2, $3) (ids carry the time), none with an unfinished
-- delivery; repeated while it deletes that many, $2 moving up. No lock: ended runs never change. Dispatch reads no index
-- that prune leaves holes in.
delete from run where ctid = any(array(
  select r.ctid from run r where r.org_id = $1 and r.id >= $2 and r.id < $3 and r.state is not null
     and not exists (select 1 from delivery d where d.run_id = r.id and d.finished_at is null)
   order by r.id limit $4));

-- ── Audit: each must return no row (tests, simulation, `doctor`) ────────────────────────────────────────────────────

-- A pending run without queue row, or the reverse.
select id from run where state is null except select id from queue;
select id from queue except select id from run where state is null;
-- An attempt in flight that is not pending, or that still competes.
select id from active where id not in (select id from queue) union all select id from active intersect select id from ready;
-- Two stands of one agent, or heads without a stand, or below its mark.
select line_no from stand group by 1 having count(*) > 1;
select q.id from ready q left join stand t using (line_no)
 where t.no is null or not exists (select 1 from unnest(t.kinds, t.levels, t.marks) as m (kind, level, mark)
                                    where m.kind = q.kind and m.level = q.priority and m.mark <= q.place);
-- A session with work in place, nothing in flight, nothing in back-off, nothing set aside, and no head.
select session_no from queue where session_no is not null and seq is not null
 group by 1 having bool_and(not_before is null and set_aside is null) and not bool_or(id in (select id from active) or id in (select id from ready));
