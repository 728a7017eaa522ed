-- How runs ended, per schedule and agent over time. The counts outlive the runs.
--
-- As with `run_count`, each transaction states in its row of history how the runs ended that ended in it, and the rows
-- are added up later, each one once. The column and the position are separate ones, because nodes of the release before
-- add up what they know. Runs that such a node ends while it is being replaced are missing here.

-- A list of [schedule or null, agent, minute of creation, state, number of runs]. Minutes count from 1970.
alter table turn add column timeline jsonb;

create table timeline_count (
  org_id text collate "C" not null,
  -- Steps of UTC. Minutes are kept for two days, hours for forty, days for four hundred.
  step   text collate "C" not null check (step in ('minute', 'hour', 'day')),
  -- `all`, `agent:<id>`, `schedule:<id>`, and `direct:<agent id>` for runs of an agent without a schedule.
  line   text collate "C" not null,
  -- The start of the step in which the runs were created.
  at     timestamptz not null,
  state  text collate "C" not null,
  count  bigint      not null check (count > 0),
  primary key (org_id, step, line, at, state)
) with (fillfactor = 80);

-- The lines of a range. `count` is in no index, so that adding to it stays within its page.
create index timeline_count_by_time on timeline_count (org_id, step, at, line);

-- Lines with failures come first, and are few.
create index timeline_count_failed on timeline_count (org_id, step, at, line) where state in ('failed', 'timeout');

create table timeline_count_place (
  org_id text collate "C" not null primary key,
  no     bigint not null
) with (fillfactor = 50);

-- The runs so far: some seconds for each million, in which transactions wait.
insert into timeline_count (org_id, step, line, at, state, count)
select r.org_id, s.step, l.line, date_trunc(s.step, r.created_at, 'UTC'), r.state, count(*)
  from run r
 cross join (values ('minute', interval '2 days'), ('hour', interval '40 days'), ('day', interval '400 days')) as s (step, kept)
 cross join lateral (values ('all'), ('agent:' || r.agent_id),
                            (coalesce('schedule:' || r.schedule_id, 'direct:' || r.agent_id))) as l (line)
 cross join (select max(created_at) as at from run) newest
 where r.state is not null and r.created_at >= newest.at - s.kept
 group by 1, 2, 3, 4, 5;

insert into timeline_count_place (org_id, no) select org_id, no from org_version;
