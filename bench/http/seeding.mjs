// Creates a million runs by multiplying two, one of a message and one of a schedule, in SQL while no server is running.

const PIECE = 250_000
const SESSIONS = 10_000
/** One in this many runs belongs to the schedule, failed, or belongs to the other agent. */
const SCHEDULED = 10
const FAILED = 10_000
const OTHER = 50_000

/** Writes `runs` ended runs over the last twenty days. Returns values to filter by. */
export async function seedRuns(client, { runs, say }) {
  const template = async (trigger) => {
    const { rows } = await client.query(
      `select id, schedule_id from run where trigger = $1 and state = 'success' limit 1`,
      [trigger],
    )
    if (rows[0] === undefined) throw new Error(`there is no ended run of a ${trigger} to multiply`)
    return rows[0]
  }
  const message = await template('message')
  const { rows } = await client.query(
    `select id, schedule_id, trigger from run where schedule_id is not null and state = 'success' limit 1`,
  )
  const [scheduled] = rows
  if (scheduled === undefined) throw new Error('there is no ended run of a schedule to multiply')
  for (let from = 0; from < runs; from += PIECE) {
    const to = Math.min(from + PIECE, runs)
    await client.query(
      `with template as materialized (
         select (select t from run t where t.id = $1) as message, (select t from run t where t.id = $2) as scheduled)
       insert into run select n.*
         from generate_series(${from + 1}, ${to}) i, template,
           jsonb_populate_record(case when i % ${SCHEDULED} = 0 then scheduled else message end, jsonb_build_object(
             'id', 'run_0' || lpad(i::text, 25, '0'), 'job_run_id', 'run_0' || lpad(i::text, 25, '0'),
             'agent_id', case when i % ${OTHER} = 1 then 'other' else 'echo' end,
             'state', case when i % ${FAILED} = 3 then 'failed' else 'success' end,
             'session_key', 'agent:echo:bench:dm:s' || i % ${SESSIONS},
             'created_at', (message).created_at - interval '20 days' + i * interval '20 days' / ${runs})) n`,
      [message.id, scheduled.id],
    )
    say(`${to.toLocaleString('en-US')} runs written`)
  }
  return {
    scheduleId: scheduled.schedule_id,
    trigger: scheduled.trigger,
    session: 'agent:echo:bench:dm:s7',
    middle: new Date(Date.now() - 10 * 86_400_000).toISOString(),
  }
}
