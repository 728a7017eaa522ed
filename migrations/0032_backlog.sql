-- The tables that nodes are using come first, in the order in which their transactions read them: otherwise each would wait
-- for the other.

-- Whether the node reads the backlog. While another one is alive, nothing is put there.
alter table node add column backlog boolean not null default false;

-- A node of the release before that was declared lost would join again under another name and know `pending` alone.
create function refuse_node_without_backlog() returns trigger language plpgsql as $$
begin
  raise exception 'this node is of an earlier release than the database: restart it with the present one';
end $$;

create trigger node_reads_backlog before insert on node
  for each row when (not new.backlog) execute function refuse_node_without_backlog();

-- How many runs of the session are in the backlog, and a position that none of them precedes.
alter table session
  add column behind integer not null default 0 check (behind >= 0),
  add column behind_from bigint not null default 0;

-- Runs that wait far from their turn. A pending run has a row either in `pending`, which every node holds in memory, or
-- here, where transactions of the org read it when its turn comes. Only queued runs that never started and that no
-- schedule created are here; `run.state` is null, and there is no row in `pending`. ADR 0049 explains the indexes.
create table backlog (
  org_id      text collate "C" not null,
  id          text collate "C" not null,
  agent_id    text collate "C" not null,
  -- With the agent they are its line: the runs that compete with each other as equals.
  lane        text collate "C" not null,
  executor_key text collate "C" not null,
  kind        text collate "C" not null,
  session_key text collate "C",
  -- Its position in its session.
  seq         bigint      not null,
  priority    integer     not null,
  created_at  timestamptz not null,
  -- Behind another run of its session: it competes only after that one.
  behind      boolean     not null,
  -- Its deadline.
  wake_at     timestamptz,
  reserves    jsonb,
  constraint backlog_behind_in_session check (not behind or session_key is not null)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0.2, vacuum_truncate = false);

create index backlog_line_order on backlog (org_id, agent_id, lane, executor_key, kind, behind, priority, created_at, id);
create index backlog_session_order on backlog (org_id, session_key, seq, id) where session_key is not null;
create index backlog_wake on backlog (org_id, wake_at, id) where wake_at is not null;
-- The last of the indexes: while the table is empty, all cost the planner the same, and of equals it takes the youngest.
alter table backlog add primary key (org_id, kind, created_at, id);

-- What is in the backlog of each line: read with the org, changed in the transaction that changes the rows.
create table backlog_line (
  org_id           text collate "C" not null,
  agent_id         text collate "C" not null,
  lane             text collate "C" not null,
  executor_key     text collate "C" not null,
  kind             text collate "C" not null,
  count            integer not null check (count > 0),
  -- Those that are not behind another run of their session.
  waiting          integer not null check (waiting between 0 and count),
  -- No waiting row sorts before this key. It is where reading begins, so that rows taken before cost nothing.
  from_priority    integer,
  from_created_at  timestamptz,
  from_id          text collate "C",
  primary key (org_id, agent_id, lane, executor_key, kind),
  constraint backlog_line_has_key check ((waiting = 0) = (from_priority is null)
    and (waiting = 0) = (from_created_at is null) and (waiting = 0) = (from_id is null))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);
