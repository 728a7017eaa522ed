-- Programs elsewhere that perform the work of agents.
--
-- A worker's lease covers every attempt it holds, as a node's does. A run that is held by a worker has the worker's id
-- where it otherwise has the node's, so nodes of the release before this one take such a run for one whose holder is gone:
-- connect workers once every node is of this release.

create table worker (
  org_id      text collate "C" not null references org (id),
  id          text collate "C" not null,
  name        text        not null,
  -- The agents whose work it takes.
  agents      text[]      not null,
  -- Attempts it takes at a time.
  capacity    integer     not null check (capacity > 0),
  -- The key it came with.
  principal   text collate "C",
  connected_at timestamptz not null,
  lease_until timestamptz not null,
  -- It takes nothing more and ends what it holds.
  draining    boolean     not null default false,
  -- Declared by a node after the lease had lapsed; what it held is settled then, and it must begin anew.
  lost        boolean     not null default false,
  primary key (org_id, id)
);

-- Which run and worker an attempt belongs to, for whoever reports about it by its id alone. It stays when the attempt has
-- ended, so that a late report is known from a wrong one; retention removes it.
create table worker_attempt (
  org_id      text collate "C" not null,
  id          text collate "C" not null,
  run_id      text collate "C" not null,
  worker_id   text collate "C" not null,
  assigned_at timestamptz not null,
  primary key (org_id, id)
);
create index worker_attempt_by_age on worker_attempt (assigned_at);
