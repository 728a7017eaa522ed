// Creates millions of rows by multiplying a row of the library in SQL while no node is running. Columns that are not listed
// here keep the value from the library, so changes of the schema need no changes here.
import pg from 'pg'

/** The layouts of docs/adr/0012: the agent and the session of the i-th run. */
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

/**
 * Copies the only queued run of a template agent and its session to template tables, and deletes all queued runs, so that
 * the template itself is not executed.
 */
export async function setTemplateAside(client, agent) {
  await client.query(
    `create table public.template_run as select * from run where agent_id = '${agent}' and state is null limit 1`,
  )
  await client.query(
    `create table public.template_pending as select p.* from pending p join public.template_run using (org_id, id)`,
  )
  await client.query(
    `create table public.template_session as
       select s.* from session s join public.template_run t on t.org_id = s.org_id and t.session_key = s.key`,
  )
  await client.query('delete from pending')
  await client.query('delete from run where state is null')
}

/**
 * Inserts the row of `template` into `table` for every row of `series`, a list of from-items. `values` are SQL expressions for
 * the columns that differ, using the series and the template `t`.
 */
async function multiply(client, { table, template, params = [], series, values, ending = '' }) {
  const { rows } = await client.query(
    `select attname as name from pg_attribute
      where attrelid = to_regclass($1) and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
    [table],
  )
  const columns = rows.map(({ name }) => name)
  const unknown = Object.keys(values).find((name) => !columns.includes(name))
  if (unknown !== undefined) throw new Error(`${table} has no column ${unknown}`)
  const names = columns.map((name) => `"${name}"`).join(', ')
  const given = columns.map((name) => values[name] ?? `t."${name}"`).join(', ')
  await client.query(
    `with template as materialized (select t.* from ${template} limit 1)
     insert into ${table} (${names}) select ${given} from ${series}, template t ${ending}`,
    params,
  )
}

const idOf = (prefix) => `'${prefix}_0' || lpad(i::text, 25, '0')`

/** How much of a queue submission leaves in memory: of a line, of a session, of an org. */
const WINDOW = { line: 256, leastOfLine: 4, session: 64, org: 50_000 }

/**
 * Multiplies the copied template into `count` queued runs of a layout: like submission, the first of each line and session into
 * `pending`, and the others into the backlog.
 */
export async function seedQueued(client, { layout, count, from = 0 }) {
  const { agent, session } = LAYOUTS[layout] ?? layout
  await client.query(`drop table if exists seed`)
  await client.query(
    `create temp table seed as
     select i, run_id, agent, key, key is not null and (no_in_session > 1 or exists (
              select from run r where r.session_key = key and r.state is null)) as behind,
            no_in_session, false as in_memory
       from (select *, case when key is not null then row_number() over (partition by key order by i) end as no_in_session
         from (select i, (select left(id, 3) from public.template_run) || ${idOf('')} as run_id, agent,
                      'agent:' || agent || ':bench:dm:' || session as key
           from (select i, ${agent} as agent, ${session} as session
             from generate_series(${from + 1}::int, ${from + count}::int) i) s) s) s`,
  )
  await keepFirst(client)
  await client.query('analyze seed')
  await multiply(client, {
    ...{
      table: 'session',
      template: 'public.template_session t',
      series: '(select distinct s.key from seed s where s.key is not null) s',
    },
    ...{ values: { key: 's.key' }, ending: 'on conflict do nothing' },
  })
  await multiply(client, {
    ...{ table: 'run', template: 'public.template_run t', series: 'seed s' },
    values: {
      ...{ id: 's.run_id', job_run_id: 's.run_id', agent_id: 's.agent', session_key: 's.key' },
      executor_key: 'replace(t.executor_key, t.agent_id, s.agent)',
      created_at: CREATED_AT,
    },
  })
  await multiply(client, {
    ...{ table: 'pending', template: 'public.template_pending t', series: '(select * from seed where in_memory) s' },
    values: { id: 's.run_id', seq: 's.i' },
  })
  await seedBacklog(client)
  await client.query('drop table seed')
}

/** Ten million of them are older than the template. */
const CREATED_AT = `t.created_at - interval '1 day' + s.i * interval '5 ms'`

/** Marks the rows of `seed` that stay in memory: the first sessions of each line, and the first runs of these sessions. */
async function keepFirst(client) {
  const { line, leastOfLine, session, org } = WINDOW
  await client.query(
    `with size as (
       select least(${line}, greatest(${leastOfLine}, ${org} / (2 * count(distinct agent)))) as line from seed),
     head as (
       select s.i, s.key, row_number() over (partition by s.agent order by s.i) as no from seed s
        where not s.behind and not exists (select from backlog_line l where l.agent_id = s.agent)),
     kept as (select i, key, count(*) over () as count from head, size where no <= size.line),
     first as (
       select i from kept
       union
       select s.i from kept k join seed s using (key)
        where s.no_in_session <= greatest(1, least(${session}, ${org} / k.count)))
     update seed s set in_memory = true from first f where f.i = s.i`,
  )
}

/** Inserts the runs that are not in memory into the backlog, and the counts of its lines and sessions. */
async function seedBacklog(client) {
  const kind = `case when t.trigger = 'task' then 'task' else 'ordinary' end`
  await client.query(
    `insert into backlog (org_id, id, agent_id, lane, executor_key, kind, session_key, seq, priority, created_at, behind, wake_at)
     select t.org_id, s.run_id, s.agent, t.lane, replace(t.executor_key, t.agent_id, s.agent), ${kind}, s.key, s.i, t.priority,
            ${CREATED_AT}, s.behind, t.deadline
       from public.template_run t, seed s where not s.in_memory order by s.i`,
  )
  await client.query('truncate backlog_line')
  await client.query(
    `insert into backlog_line
     select org_id, agent_id, lane, executor_key, kind, count(*), count(*) filter (where not behind),
            min(priority) filter (where not behind), min(created_at) filter (where not behind),
            case when bool_or(not behind) then '' end
       from backlog group by 1, 2, 3, 4, 5`,
  )
  await client.query(
    `update session s set behind = b.count, behind_from = b.first
       from (select org_id, session_key, count(*), min(seq) as first from backlog where session_key is not null group by 1, 2) b
      where s.org_id = b.org_id and s.key = b.session_key`,
  )
}

/** The number of pending runs, in SQL. */
export const PENDING_COUNT = `((select count(*) from escapement.pending)
  + coalesce((select sum(count) from escapement.backlog_line), 0))::int`

/** The id of the i-th seeded org, in SQL and here. */
const ORG_ID = `'org-' || i`
export const orgId = (i) => `org-${i}`

/**
 * Multiplies the org `default`, which has executed some runs, into `count` orgs as they would be after days without work: with
 * agents and a version, with counted stats, and with history removed by retention.
 */
export async function seedOrgs(client, count) {
  const series = `generate_series(1, ${count}) i`
  const of = (table) => `${table} t where t.org_id = 'default'`
  await multiply(client, { table: 'org', template: `org t where t.id = 'default'`, series, values: { id: ORG_ID } })
  await multiply(client, { table: 'agent', template: of('agent'), series, values: { org_id: ORG_ID } })
  const version = { org_id: ORG_ID, at: `t.at - interval '3 days'` }
  await multiply(client, { table: 'org_version', template: of('org_version'), series, values: version })
  for (const table of ['run_count_place', 'task_count_place'])
    await multiply(client, { table, template: of('org_version'), series, values: { org_id: ORG_ID, no: 't.no' } })
}

/** The key of the i-th seeded org; derived, because only its hash is stored. */
export const keyOfOrg = (i) => `esc_${String(i).padStart(43, '0')}`

/** Gives each seeded org a copy of the owner's key with a different text. */
export const seedKeys = (client, count) =>
  multiply(client, {
    ...{ table: 'api_key', template: `api_key t where t.org_id = 'default'`, series: `generate_series(1, ${count}) i` },
    values: {
      ...{ org_id: ORG_ID, id: idOf('key') },
      key_hash: `sha256(convert_to('esc_' || lpad(i::text, 43, '0'), 'UTF8'))`,
    },
  })

/** Multiplies one ended run into `count` after the first `from`, in batches, over the given connections. */
export async function seedEnded(clients, { count, from = 0, say }) {
  const piece = 250_000
  const { rows } = await clients[0].query(`select id from run where state = 'success' limit 1`)
  const pieces = Array.from({ length: Math.ceil((count - from) / piece) }, (_, n) => from + n * piece)
  const work = async (client) => {
    for (let begin = pieces.shift(); begin !== undefined; begin = pieces.shift()) {
      const end = Math.min(begin + piece, count)
      await multiply(client, {
        ...{
          table: 'run',
          template: 'run t where t.id = $1',
          params: [rows[0].id],
          series: `generate_series(${begin + 1}, ${end}) i`,
        },
        values: {
          ...{ id: idOf('run'), job_run_id: idOf('run'), agent_id: `'a' || i % 1000` },
          session_key: `'agent:a' || i % 1000 || ':bench:dm:s' || i % 10000`,
          created_at: `t.created_at - interval '20 days' + i * interval '100 ms'`,
        },
      })
      if (end % 2_000_000 === 0) say(`${end.toLocaleString('en-US')} ended runs written`)
    }
  }
  await Promise.all(clients.map(work))
}

/** Multiplies one ended task into `count` that ended an hour earlier. */
export const seedEndedTasks = (client, count) =>
  multiply(client, {
    ...{ table: 'run', template: `run t where t.trigger = 'task' and t.state = 'success'` },
    series: `generate_series(1, ${count}) i`,
    values: {
      ...{ id: `left(t.id, 4) || '0' || lpad(i::text, 25, '0')`, job_run_id: 'null' },
      created_at: `t.created_at - interval '1 hour' + i * interval '1 ms'`,
      finished_at: `t.finished_at - interval '1 hour' + i * interval '1 ms'`,
    },
  })

/** Multiplies the only schedule; the occurrences are spread over hours that begin in more than ten minutes. */
export const seedSchedules = (client, count) =>
  seedOf(client, count, { next_run_at: `t.next_run_at + i * interval '10 ms'` })

/**
 * Multiplies the only schedule into `count` schedules, whose first occurrences begin at `first` and follow each other evenly,
 * `perSecond` per second.
 */
export function seedPhases(client, { count, first, perSecond }) {
  const offset = `(i - 1) * interval '1 second' / ${perSecond}`
  const moment = `to_timestamp(${first / 1_000}) + ${offset}`
  const anchor = `to_jsonb(to_char((${moment}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`
  return seedOf(client, count, {
    next_run_at: moment,
    input: `jsonb_set(t.input, '{anchor}', ${anchor})`,
    timing: `jsonb_set(t.timing, '{anchor}', ${anchor})`,
  })
}

async function seedOf(client, count, values) {
  const piece = 100_000
  for (let from = 0; from < count; from += piece)
    await multiply(client, {
      ...{ table: 'schedule', template: `schedule t where t.name = 'idle'` },
      series: `generate_series(${from + 1}, ${Math.min(from + piece, count)}) i`,
      values: { id: idOf('sch'), name: `'idle ' || i`, ...values },
    })
}

/** Updates statistics and the visibility map, as autovacuum would. */
export async function settle(client) {
  await client.query('vacuum analyze')
  await client.query('checkpoint')
}
