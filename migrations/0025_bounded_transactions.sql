-- A command that cancels more waiting runs than one transaction should touch (/stopall, reset, an interrupting message, the
-- end of a schedule) leaves a row here. Waiting runs of the session or schedule that are older than it never start, and
-- are cancelled a thousand at a time. The row goes with the last of them. Nodes of the release before do not look at it.
create table clearing (
  org_id     text collate "C" not null references org (id),
  subject    text        not null check (subject in ('session', 'schedule')),
  key        text collate "C" not null,
  before     timestamptz not null,
  superseded boolean     not null,
  why        jsonb       not null,
  primary key (org_id, subject, key)
);

-- Ends a transaction that was decided by rows which are not on record. Called by the statements that write runs.
create function refuse_unknown_rows() returns integer language plpgsql as $$
begin
  raise exception using errcode = 'ESC01', message = 'rows that this transaction was decided by are not on record';
end $$;
