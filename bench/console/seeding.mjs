// Creates many schedules and runs by multiplying one of each in SQL while no server is running.

/** One in this many runs failed, timed out or was cancelled; one in this many schedules fails. */
const FAILED = 20
const TIMED_OUT = 50
const CANCELLED = 33
const FAILING = 40

/** Writes schedules that fire over the next day, and ended runs of them over the last days. */
export async function seedConsole(client, { runs, schedules, days }) {
  await client.query(
    `insert into schedule select n.* from (select t from schedule t limit 1) template, generate_series(1, $1::int) i,
       jsonb_populate_record(t, jsonb_build_object(
         'id', 'sch_0' || lpad(i::text, 25, '0'), 'name', 'Schedule ' || i || ' of the bench',
         'failure_streak', case when i % ${FAILING} = 0 then i % 7 + 1 else 0 end,
         'next_run_at', now() + interval '1 hour' + i * interval '23 hours' / $1,
         'created_at', now() - i * interval '1 minute')) n`,
    [schedules],
  )
  await client.query(
    `insert into run select n.* from (select t from run t where state = 'success' limit 1) template,
       generate_series(1, $1::int) i,
       jsonb_populate_record(t, jsonb_build_object(
         'id', 'run_0' || lpad(i::text, 25, '0'), 'job_run_id', 'run_0' || lpad(i::text, 25, '0'),
         'schedule_id', 'sch_0' || lpad((i % $2::int + 1)::text, 25, '0'), 'trigger', 'schedule',
         'state', case when i % ${FAILED} = 0 then 'failed' when i % ${TIMED_OUT} = 1 then 'timeout'
                       when i % ${CANCELLED} = 2 then 'cancelled' else 'success' end,
         'created_at', now() - $3 * interval '1 day' + i * $3 * interval '1 day' / $1,
         'started_at', now() - $3 * interval '1 day' + i * $3 * interval '1 day' / $1,
         'finished_at', now() - $3 * interval '1 day' + i * $3 * interval '1 day' / $1 + interval '3 seconds')) n`,
    [runs, schedules, days],
  )
  await client.query(
    `insert into run_count (org_id, hour, kind, key, count)
     select org_id, date_trunc('hour', created_at, 'UTC'), 'status', state, count(*) from run
      where state is not null group by 1, 2, 4
     union all
     select org_id, date_trunc('hour', created_at, 'UTC'), kind, (60 + random() * 40)::int::text, count(*)
       from run, (values ('duration'), ('lateness')) kinds (kind) where state is not null group by 1, 2, 3, 4
     on conflict do nothing`,
  )
  await client.query(
    `insert into timeline_count (org_id, step, line, at, state, count)
     select r.org_id, s.step, l.line, date_trunc(s.step, r.created_at, 'UTC'), r.state, count(*)
       from run r
      cross join (values ('minute', interval '2 days'), ('hour', interval '40 days'), ('day', interval '400 days')) s (step, kept)
      cross join lateral (values ('all'), ('agent:' || r.agent_id), (coalesce('schedule:' || r.schedule_id, 'direct:' || r.agent_id))) l (line)
      where r.state is not null and r.created_at >= now() - s.kept group by 1, 2, 3, 4, 5
     on conflict do nothing`,
  )
}
