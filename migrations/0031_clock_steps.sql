-- The clock of the server was set back, and more runs wait by the clock before than one transaction should change: those
-- that are still to be moved stand here. The row goes with the last of them. Nodes of the release before do not look at it.
create table clock_step (
  org_id text collate "C" not null references org (id),
  -- The turn in which it was noticed.
  no     bigint           not null,
  by_ms  bigint           not null,
  runs   text[] collate "C" not null,
  primary key (org_id, no)
);
