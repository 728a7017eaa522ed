// Tasks: acknowledged after the commit; from submission to their end with a browser instance; and a long list of them.
import { fork } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { round, thousands } from '../../engine/statistics.mjs'
import { cpuPer } from '../load.mjs'
import { withServed } from '../served.mjs'
import { CONNECTIONS, hammered } from './messages.mjs'

const INSTANCE = path.join(path.dirname(fileURLToPath(import.meta.url)), '../instance.mjs')
const CLIENTS = 8
const BATCH = 50
const LISTED = 100_000
const HEAP_MIB = 128
const WAVES = 20

export const title = `Tasks: POST /tasks, ${CONNECTIONS} connections; submit → end, ${CLIENTS} clients; ${thousands(LISTED)} listed`

/** Limits that are never reached, and a time to live longer than reading the list. */
const LIMITS = {
  ...{ max_queue: 1_000_000, max_per_agent: 1_000_000, max_inflight: 1_000, max_per_agent_inflight: 1_000 },
  ...{ result_ttl_seconds: 86_400, default_deadline_seconds: 3_600 },
}

export async function measure(bench) {
  const facts = {}
  facts.submit = await withServed({ nodeArgs: bench.profileArgs('http-tasks'), config: { tasks: LIMITS } }, (served) =>
    submitted(bench, served),
  )
  bench.say(`POST /tasks ${thousands(facts.submit.perSecond)}/s, node ${facts.submit.nodeUs} µs`)
  facts.cycle = await withInstance((instances) =>
    withServed(
      { nodeArgs: bench.profileArgs('http-task-cycles'), config: { tasks: { ...LIMITS, executor: { instances } } } },
      (served) => cycled(bench, served),
    ),
  )
  bench.say(`submit → end ${thousands(facts.cycle.perSecond)}/s, node ${facts.cycle.nodeUs} µs`)
  // Without a limit, garbage from creating the tasks would be measured.
  const nodeArgs = [`--max-old-space-size=${HEAP_MIB}`]
  facts.list = await withServed({ nodeArgs, config: { tasks: LIMITS, lanes: { task: 200 } } }, (served) =>
    listed(bench, served),
  )
  return { facts, rows: rowsOf(facts) }
}

async function submitted(bench, served) {
  const count = bench.quick ? 12_000 : 60_000
  const options = { kind: 'tasks', options: { agent: 'echo' } }
  await hammered(bench, served, { ...options, count: count / 2 })
  const { perSecond, p50, p99, nodeUs, postgresUs } = await hammered(bench, served, { ...options, count })
  return figures({ perSecond, p50, p99, nodeUs, postgresUs })
}

async function cycled(bench, served) {
  const { url, key } = served
  const count = bench.quick ? 4_000 : 20_000
  await bench.load('cycles', { url, key, clients: CLIENTS, count: count / 2 })
  const before = served.cpu()
  const made = await bench.load('cycles', { url, key, clients: CLIENTS, count })
  if (made.states.done !== made.count) throw new Error(`not every task is done: ${JSON.stringify(made.states)}`)
  const { perSecond, p50, p99 } = made
  return figures({ perSecond, p50, p99, ...cpuPer(made.count, before, served.cpu()) })
}

async function listed(bench, served) {
  const tasks = bench.quick ? LISTED / 10 : LISTED
  const options = { agent: 'echo', size: BATCH }
  // In batches that are completed before the next, because pending tasks use memory and only the list should be measured.
  for (let wave = 0; wave < WAVES; wave += 1)
    await hammered(bench, served, { kind: 'batches', count: tasks / BATCH / WAVES, options })
  const pages = {}
  let highest = 0
  const rest = served.rssMiB()
  for (const limit of [200, 1_000]) {
    const began = performance.now()
    const before = served.cpu()
    const seen = await walk(served, limit, () => {
      highest = Math.max(highest, served.rssMiB())
    })
    if (seen < tasks) throw new Error(`${seen} of ${tasks} tasks were listed`)
    const count = Math.ceil(seen / limit)
    const { nodeUs, postgresUs } = cpuPer(count, before, served.cpu())
    pages[limit] = figures({ perSecond: (count / (performance.now() - began)) * 1_000, nodeUs, postgresUs })
    bench.say(`${thousands(seen)} tasks in pages of ${limit}: ${thousands(pages[limit].perSecond)} pages a second`)
  }
  return { tasks, restMiB: round(rest, 0), moreMiB: round(highest - rest, 0), pages }
}

/** Reads the whole list. */
async function walk({ ask }, limit, look) {
  let seen = 0
  for (let cursor = ''; ;) {
    const page = await ask('GET', `/tasks?limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`)
    seen += page.count
    look()
    if (page.next_cursor === undefined) return seen
    cursor = page.next_cursor
  }
}

async function withInstance(work) {
  const child = fork(INSTANCE, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  try {
    const port = await new Promise((resolve, reject) => {
      child.once('message', resolve)
      child.once('exit', () => reject(new Error('the browser instance ended')))
    })
    return await work({ tab: `http://127.0.0.1:${port}` })
  } finally {
    child.kill('SIGTERM')
  }
}

const figures = (given) => Object.fromEntries(Object.entries(given).map(([name, value]) => [name, round(value, 1)]))

function rowsOf({ submit, cycle, list }) {
  const row = (what, { perSecond, p50, p99, nodeUs, postgresUs }) => ({
    ...{ what, 'per second': perSecond, 'p50 ms': p50, 'p99 ms': p99, 'node µs': nodeUs, 'PostgreSQL µs': postgresUs },
  })
  return [
    row('POST /tasks', submit),
    row('submit → end, in one request with wait', cycle),
    ...Object.entries(list.pages).map(([limit, page]) =>
      row(`a page of ${limit} of ${thousands(list.tasks)} (${list.restMiB} + ${list.moreMiB} MiB)`, page),
    ),
  ]
}
