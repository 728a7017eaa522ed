-- How tasks ended, counted for ever, for each agent that tasks name.
--
-- As with `run_count`, each turn says in its row of history what became of the tasks that ended in it, and from there it
-- is added up, each turn once. It has a column and a place of its own: nodes of the release before add up what they know,
-- and must not pass over what they do not.

alter table turn add column tasks jsonb;

create table task_count (
  org_id      text collate "C" not null,
  -- Whom the tasks named; empty: all of them together.
  agent_id    text collate "C" not null,
  completed   bigint      not null default 0,
  failed      bigint      not null default 0,
  cancelled   bigint      not null default 0,
  rejected    bigint      not null default 0,
  expired     bigint      not null default 0,
  dispatched  bigint      not null default 0,
  dispatch_ms bigint      not null default 0,
  counted_at  timestamptz not null,
  primary key (org_id, agent_id)
);

-- Anybody may be named, so those who were heard of last are shown.
create index task_count_recent on task_count (org_id, counted_at desc);

create table task_count_place (
  org_id text collate "C" not null primary key,
  no     bigint not null
) with (fillfactor = 50);

-- What happened before says nothing about tasks.
insert into task_count_place (org_id, no)
select o.id, coalesce((select t.no from turn t where t.org_id = o.id order by t.no desc limit 1), 0) from org o;
