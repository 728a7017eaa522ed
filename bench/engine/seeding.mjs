// A million rows out of one: what the library wrote once is multiplied by SQL, while no node is running. Columns that
// nobody names here keep what the library gave them, so this follows the schema by itself.
import pg from 'pg'

/** The layouts of docs/adr/0012: which agent and which session the i-th run belongs to. */
export const LAYOUTS = {
  'one session': { agent: `'a0'`, session: `'s'` },
  'one agent': { agent: `'a0'`, session: `'s' || i` },
  '10,000 agents': { agent: `'a' || i % 10000`, session: `'s' || i % 100000` },
  'full agent': { agent: `'full'`, session: `'s' || i` },
}

export async function withClient(url, work) {
  const client = new pg.Client({ connectionString: url, options: '-c search_path=escapement,public -c work_mem=64MB' })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Multiplies the queued run of a template agent into a layout of `count` queued runs. */
export async function seedQueued(client, { template, layout, count, from = 0 }) {
  const { agent, session } = LAYOUTS[layout] ?? layout
  await client.query(`drop table if exists seed`)
  await client.query(
    `create temp table seed as
     select i, 'run_0' || lpad(i::text, 25, '0') as id, agent, 'agent:' || agent || ':bench:dm:' || session as session
       from (select i, ${agent} as agent, ${session} as session from generate_series(${from + 1}::int, ${from + count}::int) i) s`,
  )
  await client.query(
    `with template as materialized (
       select t from session t where t.key = (select session_key from run where agent_id = $1 limit 1))
     insert into session select n.*
       from (select distinct session from seed) s, template, jsonb_populate_record(t, jsonb_build_object('key', s.session)) n
     on conflict do nothing`,
    [template],
  )
  await client.query(
    `with template as materialized (select t from run t where t.agent_id = $1 and t.state is null limit 1)
     insert into run select n.*
       from seed s, template, jsonb_populate_record(t, jsonb_build_object('id', s.id, 'job_run_id', s.id, 'agent_id', s.agent,
         'session_key', s.session, 'executor_key', replace((t).executor_key, (t).agent_id, s.agent),
         'created_at', (t).created_at - interval '1 day' + s.i * interval '10 ms')) n`,
    [template],
  )
  await client.query(
    `with template as materialized (
       select t from pending t where t.id = (select id from run where agent_id = $1 and state is null limit 1))
     insert into pending select n.*
       from seed s, template, jsonb_populate_record(t, jsonb_build_object('id', s.id, 'seq', s.i)) n`,
    [template],
  )
  await client.query('drop table seed')
}

/** Takes the template away, so that only what was multiplied is left. */
export async function removeTemplate(client, template) {
  await client.query(`delete from pending using run r where r.id = pending.id and r.agent_id = $1`, [template])
  await client.query(`delete from run where agent_id = $1`, [template])
}

/** Multiplies one ended run into `count`, in pieces that the disk can follow. */
export async function seedEnded(client, { count, say }) {
  const piece = 500_000
  const { rows } = await client.query(`select id from run where state = 'success' limit 1`)
  const template = rows[0].id
  for (let from = 0; from < count; from += piece) {
    const to = Math.min(from + piece, count)
    await client.query(
      `with template as materialized (select t from run t where t.id = $1)
       insert into run select n.*
         from generate_series(${from + 1}, ${to}) i, template, jsonb_populate_record(t, jsonb_build_object(
           'id', 'run_0' || lpad(i::text, 25, '0'), 'job_run_id', 'run_0' || lpad(i::text, 25, '0'), 'agent_id', 'a' || i % 1000,
           'session_key', 'agent:a' || i % 1000 || ':bench:dm:s' || i % 10000,
           'created_at', (t).created_at - interval '20 days' + i * interval '100 ms')) n`,
      [template],
    )
    if (to % 2_000_000 === 0) say(`${to.toLocaleString('en-US')} ended runs written`)
  }
}

/** Multiplies the one schedule there is; their moments are spread over hours that begin in more than ten minutes. */
export async function seedSchedules(client, count) {
  const piece = 100_000
  for (let from = 0; from < count; from += piece)
    await client.query(
      `with template as materialized (select t from schedule t where t.name = 'idle')
       insert into schedule select n.*
         from generate_series(${from + 1}, ${Math.min(from + piece, count)}) i, template,
              jsonb_populate_record(t, jsonb_build_object('id', 'sch_0' || lpad(i::text, 25, '0'),
                'name', 'idle ' || i, 'next_run_at', (t).next_run_at + i * interval '10 ms')) n`,
    )
}

/** Statistics and visibility as they would be after a while. */
export async function settle(client) {
  await client.query('vacuum analyze')
  await client.query('checkpoint')
}
