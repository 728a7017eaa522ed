-- What attempts print while they run: words and log lines, in chunks of up to 64 KiB and 1 MiB per attempt. A chunk is
-- written outside of the org's transaction, and only for attempts that print something. It is deleted with its run.
create table run_log (
  org_id     text collate "C" not null,
  run_id     text collate "C" not null,
  attempt_id text collate "C" not null,
  -- The id of its first entry: chunks of an attempt are in order of their ids.
  id         text collate "C" not null,
  bytes      integer          not null,
  -- JSON, which is only read as a whole.
  entries    text             not null,
  primary key (org_id, run_id, attempt_id, id)
);

-- What a retry changed: which parts of the original run, and the model that replaces its agent's.
create table run_edit (
  org_id text collate "C" not null,
  run_id text collate "C" not null,
  parts  text[] collate "C" not null,
  model  text,
  primary key (org_id, run_id)
);
