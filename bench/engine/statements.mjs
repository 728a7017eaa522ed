// `npm run bench -- statements [--runs n] [--schedules n] [--plans]`: the cost of every statement that a server sends
// to a database with many runs, while messages arrive and while each page of the console is loaded. With --plans also the query
// plans.
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { seedConsole } from '../console/seeding.mjs'
import { endServers, withServed } from '../http/served.mjs'
import { settle, withClient } from './seeding.mjs'
import { startServer } from './server.mjs'
import { round, thousands } from './statistics.mjs'
import { inFlight } from './world.mjs'

const SETTINGS = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'top',
  'pg_stat_statements.track_utility': 'off',
}
const MESSAGES = 3_000
const SESSIONS = 1_000
const READS = 20
const SHOWN = 110
/** Marks the benchmark's own statements, so that they are not listed. */
const OURS = '/* bench */'
const SPENT = `${OURS} select query, calls::int as calls, mean_exec_time * 1000 as micros, total_exec_time as ms, rows::float8 as rows,
       shared_blks_hit::float8 as hit, shared_blks_read::float8 as read, shared_blks_dirtied::float8 as dirtied
  from pg_stat_statements join pg_database d on d.oid = dbid
 where d.datname = current_database() and query not like '%bench */%' and query not like '%pg_stat_statements_reset%'
 order by total_exec_time desc`

/** Fills a database, sends messages, loads pages, and prints the cost of each statement. */
export async function run(args = []) {
  const options = optionsOf(args)
  const server = await startServer(SETTINGS)
  const leave = () => {
    endServers()
    void server.stop().finally(() => process.exit(130))
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, leave)
  try {
    await server.withDatabase('statements', (url) => lookAt({ url, pid: server.pid }, options))
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, leave)
    await server.stop()
  }
  const size = `${thousands(options.runs)} ended runs and ${thousands(options.schedules)} schedules`
  return `Measured with ${size}; buffers are pages of 8 KiB, found in memory (hit) or asked of the system (read).`
}

function optionsOf(args) {
  const { values } = parseArgs({
    args,
    options: {
      runs: { type: 'string', default: '200000' },
      schedules: { type: 'string', default: '10000' },
      plans: { type: 'boolean', default: false },
    },
  })
  const count = (name) => {
    const value = Number(values[name])
    if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} is a whole number of at least 1`)
    return value
  }
  return { runs: count('runs'), schedules: count('schedules'), plans: values.plans }
}

async function lookAt({ url, pid }, { runs, schedules, plans }) {
  const serve = { outside: { url, postmaster: pid, key: `esc_${randomBytes(24).toString('base64url')}` } }
  await withServed(serve, makeTemplates)
  await withClient(url, async (client) => {
    await client.query('create extension if not exists pg_stat_statements schema public')
    await seedConsole(client, { runs, schedules })
    await settle(client)
    console.log(`   ${thousands(runs)} runs and ${thousands(schedules)} schedules written`)
    await withServed(serve, async (served) => {
      await counted(client, { name: `${thousands(MESSAGES)} messages, accepted and run`, plans }, () => work(served))
      for (const [name, address] of Object.entries(await readsOf(served)))
        await counted(client, { name: `${READS} × GET ${name}`, plans }, () => read(served, address))
    })
  })
}

/** Creates the template to multiply: one schedule with one run. */
async function makeTemplates({ ask, drained }) {
  const schedule = await ask('POST', '/api/v1/schedules', {
    ...{ name: 'template', agent_id: 'echo', every_seconds: 86_400, anchor: Date.now() + 3_600_000, payload: 'go' },
  })
  await ask('POST', `/api/v1/schedules/${schedule.id}/run-now`, {})
  await drained()
}

async function work({ ask, drained }) {
  await inFlight(MESSAGES, 32, (i) => {
    const session = encodeURIComponent(`agent:echo:bench:dm:s${i % SESSIONS}`)
    return ask('POST', `/api/v1/sessions/${session}/messages`, { text: 'say what changed since yesterday' })
  })
  await drained()
}

/** The requests of the console pages, with the largest range each of them allows. */
async function readsOf({ ask }) {
  const { items: schedules } = await ask('GET', '/api/v1/schedules?limit=200')
  const { items: runs } = await ask('GET', '/api/v1/runs?limit=1')
  const ids = schedules.map(({ id }) => id).join(',')
  const from = (days) => new Date(Date.now() - days * 86_400_000).toISOString()
  return {
    '/runs, first page': '/api/v1/runs?limit=100',
    '/runs, failed': '/api/v1/runs?status=failed&limit=100',
    '/runs of a schedule': `/api/v1/runs?schedule_id=${schedules[0].id}&limit=100`,
    '/runs/{id}': `/api/v1/runs/${runs[0].id}`,
    '/schedules, first page': '/api/v1/schedules?limit=100',
    [`/schedules/outcomes of ${schedules.length}`]: `/api/v1/schedules/outcomes?limit=20&ids=${ids}`,
    '/sessions, first page': '/api/v1/sessions?limit=100',
    '/stats': '/api/v1/stats',
    '/stats/series, a day by hours': `/api/v1/stats/series?step=hour&from=${from(1)}`,
    '/stats/series, half a year by days': `/api/v1/stats/series?step=day&from=${from(180)}`,
  }
}

async function read({ ask }, address) {
  for (let i = 0; i < READS; i += 1) await ask('GET', address)
}

async function counted(client, { name, plans }, action) {
  await client.query('select pg_stat_statements_reset()')
  await action()
  const { rows } = await client.query(SPENT)
  console.log(`\n── ${name}`)
  console.table(rows.map(rowOf))
  if (plans) for (const { query } of rows) await showPlan(client, query)
}

const rowOf = ({ query, calls, micros, ms, rows, hit, read: asked, dirtied }) => ({
  ...{ calls, 'mean µs': round(micros), 'all ms': round(ms, 1), 'rows/call': round(rows / calls, 1) },
  ...{
    'hit/call': round(hit / calls, 1),
    'read/call': round(asked / calls, 1),
    'dirtied/call': round(dirtied / calls, 1),
  },
  statement: oneLine(query),
})

const oneLine = (query) => {
  const text = query.replaceAll(/\s+/g, ' ').trim()
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}

/** The generic plan of a statement; utility statements have none. */
async function showPlan(client, query) {
  try {
    const { rows } = await client.query(`explain (generic_plan) ${query}`)
    console.log(`\n   ${oneLine(query)}`)
    for (const row of rows) console.log(`      ${row['QUERY PLAN']}`)
  } catch (error) {
    console.log(`\n   ${oneLine(query)}\n      no plan: ${error.message}`)
  }
}
