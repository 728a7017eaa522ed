// The cost of a run for the server with growing data. Each function runs in a separate process.
import { setTimeout as sleep } from 'node:timers/promises'
import { agentsOf, create, holdUntilAborted, sessionOf } from '../escapement.mjs'
import { PENDING_COUNT, withClient } from '../seeding.mjs'
import { makeJob } from '../world.mjs'
import { createGate } from './gate.mjs'

/** Marks the benchmark's own statements, so that they are not counted. */
export const OURS = '/* bench */'

/** Buffers used by the statements of the database, by statement. */
export const TOUCHED = `${OURS} select query, calls::int as calls, (shared_blks_hit + shared_blks_read)::bigint as blocks
    from pg_stat_statements join pg_database d on d.oid = dbid
   where d.datname = current_database() and query not like '%bench */%' and query not like '%pg_stat_statements_reset%'
   order by blocks desc`

/**
 * Creates queued runs for seeding to multiply: one for each agent, none of them started; `expiresInMs` sets a deadline.
 * `tasks`: the runs are tasks, without a session.
 */
export async function makeTemplates({ url, agents, ended = false, org = 'default', expiresInMs, tasks = false }) {
  let held
  const holding = new Promise((resolve) => {
    held = resolve
  })
  const handlers = Object.fromEntries(agents.map((name) => [name, () => undefined]))
  const escapement = create(url, {
    agents: { ...handlers, holder: holdUntilAborted(() => held()) },
    lanes: { main: 1, task: 1 },
    org,
  })
  await escapement.start()
  await escapement.agents.update('holder', { retry_policy: { max_retries: 0 } })
  if (ended) await escapement.sessions.ask(sessionOf({ agent: agents[0], session: 'ended' }), makeJob(0).text)
  await (tasks
    ? escapement.tasks.submit({ agentId: 'holder', action: 'hold the lane' })
    : escapement.sessions.send(sessionOf({ agent: 'holder', session: 'hold' }), 'hold the lane'))
  await holding
  const deadline = expiresInMs === undefined ? {} : { deadline: new Date(Date.now() + expiresInMs).toISOString() }
  for (const agent of agents)
    await (tasks
      ? escapement.tasks.submit({ agentId: agent, action: 'summarize', params: { text: makeJob(0).text }, ...deadline })
      : escapement.sessions.send(sessionOf({ agent, session: 'template' }), { text: makeJob(0).text, ...deadline }))
  await escapement.stop('now')
}

/**
 * Buffers of all statements per claimed run, from `pg_stat_statements`. Handlers wait at a gate: at the beginning and the end
 * of counting, every slot is taken and nothing moves, so exactly `count` runs were settled and claimed in between.
 */
export async function buffers({ url, agents, full, slots, warmUp, count }) {
  const gate = createGate()
  let first = null
  const handler = (attempt) => {
    first ??= performance.now()
    return gate.handler(attempt)
  }
  const handlers = { ...agentsOf(handler, agents), ...(full ? { full: holdUntilAborted(() => undefined) } : {}) }
  const escapement = create(url, { agents: handlers, lanes: { main: full ? slots + 10 : slots } })
  const began = performance.now()
  await escapement.start()
  const startMs = performance.now() - began
  const firstStart = performance.now()
  await gate.atRest(slots)
  const firstMs = performance.now() - firstStart
  await gate.pass(warmUp, slots)
  // Longer than all polling intervals of the engine, so that earlier work is not counted.
  await sleep(1_000)
  const result = await withClient(url, async (client) => {
    await client.query('select pg_stat_statements_reset()')
    await gate.pass(count, slots)
    return (await client.query(TOUCHED)).rows
  })
  const rssMiB = process.memoryUsage().rss / 2 ** 20
  const peakRssMiB = process.resourceUsage().maxRSS / 1024
  gate.open()
  await escapement.stop('now')
  const total = result.reduce((sum, row) => sum + Number(row.blocks), 0)
  const memory = { rssMiB, peakRssMiB }
  return {
    buffersPerRun: total / count,
    startMs,
    beganMs: first - firstStart,
    firstMs,
    ...memory,
    statements: statementsOf(result, count),
  }
}

const statementsOf = (rows, count) =>
  rows.slice(0, 12).map(({ query, calls, blocks }) => ({
    query: query.replaceAll(/\s+/g, ' ').slice(0, 120),
    calls,
    perRun: Number((Number(blocks) / count).toFixed(2)),
  }))

/** Runs a node until nothing is pending; returns how many runs it handled and when its first handler began. */
export async function workOff({ url, agents }) {
  let handled = 0
  let first = null
  const handler = () => {
    first ??= Date.now()
    handled += 1
  }
  const escapement = create(url, { agents: agentsOf(handler, agents), lanes: { main: 500 } })
  await escapement.start()
  await withClient(url, async (client) => {
    const left = async () => (await client.query(`${OURS} select ${PENDING_COUNT} > 0 as is`)).rows[0].is
    while (await left()) await sleep(50)
  })
  await escapement.stop()
  return { handled, first }
}
