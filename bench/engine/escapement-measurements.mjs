// Measurements that only Escapement takes. Each runs in a process of its own.
import { setTimeout as sleep } from 'node:timers/promises'
import { agentsOf, create, holdUntilAborted, sessionOf } from './escapement.mjs'
import { withClient } from './seeding.mjs'
import { cpuSecondsOf } from './server.mjs'
import { cpuSeconds, makeJob, until } from './world.mjs'

const HOUR = 3_600

/** One enabled schedule, an hour away: what seeding multiplies. */
export async function makeSchedule({ url }) {
  const escapement = create(url, { agents: { a0: () => undefined } })
  await escapement.start()
  await escapement.schedules.create({
    name: 'idle',
    agent_id: 'a0',
    every_seconds: 24 * HOUR,
    anchor: Date.now() + HOUR * 1_000,
    payload: 'go',
  })
  await escapement.stop()
}

/** Milliseconds from the call of `start()` until it answers. */
export async function startUp({ url }) {
  const escapement = create(url, { agents: { a0: () => undefined } })
  const began = performance.now()
  await escapement.start()
  const ms = performance.now() - began
  await escapement.stop()
  return ms
}

/** A node that has nothing to do: its processor time, its memory, and the server's processor time. */
export async function idle({ url, seconds, server }) {
  const escapement = create(url, { agents: { a0: () => undefined } })
  await escapement.start()
  await sleep(5_000)
  const node = cpuSeconds()
  const database = cpuSecondsOf(server)
  await sleep(seconds * 1_000)
  const result = {
    nodeCpuPercent: ((cpuSeconds() - node) / seconds) * 100,
    serverCpuPercent: database === null ? null : ((cpuSecondsOf(server) - database) / seconds) * 100,
    rssMiB: process.memoryUsage().rss / 2 ** 20,
    peakRssMiB: process.resourceUsage().maxRSS / 1024,
  }
  await escapement.stop()
  return result
}

/** Submits and runs as fast as it goes; settled per window of five seconds. */
export async function steady({ url, seconds, pinned }) {
  let handled = 0
  const escapement = create(url, { agents: agentsOf(() => void (handled += 1)), lanes: { main: 500 } })
  await escapement.start()
  let sent = 0
  let stopped = false
  const caller = async () => {
    while (!stopped) {
      // Not more than the sessions can hold, or the cap would drop some.
      if (sent - handled > 2_000) await sleep(1)
      else await escapement.sessions.send(sessionOf(makeJob(sent)), makeJob(sent++).text)
    }
  }
  const calling = Promise.all(Array.from({ length: 256 }, caller))
  await sleep(1_000)
  const holder = pinned ? pin(url) : undefined
  await holder?.ready
  const windows = []
  for (let i = 0; i < seconds / 5; i += 1) {
    const before = handled
    const began = performance.now()
    await sleep(5_000)
    windows.push((handled - before) / ((performance.now() - began) / 1000))
  }
  stopped = true
  await calling
  await until(() => handled === sent, { what: `${sent} runs handled` })
  await escapement.stop()
  holder?.release()
  return { windows }
}

/** A reader that has looked once and does not end: nothing that dies from now on can be cleared away. */
function pin(url) {
  let release
  const released = new Promise((resolve) => {
    release = resolve
  })
  let looked
  const ready = new Promise((resolve) => {
    looked = resolve
  })
  void withClient(url, async (client) => {
    await client.query('begin isolation level repeatable read')
    await client.query('select count(*) from pending')
    looked()
    await released
  })
  return { ready, release }
}

/** Queued runs that seeding multiplies: one of each agent named, none of them started. */
export async function makeTemplates({ url, agents, ended = false }) {
  let held
  const holding = new Promise((resolve) => {
    held = resolve
  })
  const handlers = Object.fromEntries(agents.map((name) => [name, () => undefined]))
  const escapement = create(url, {
    agents: { ...handlers, holder: holdUntilAborted(() => held()) },
    lanes: { main: 1 },
  })
  await escapement.start()
  await escapement.agents.update('holder', { retry_policy: { max_retries: 0 } })
  if (ended) await escapement.sessions.ask(sessionOf({ agent: agents[0], session: 'ended' }), makeJob(0).text)
  await escapement.sessions.send(sessionOf({ agent: 'holder', session: 'hold' }), 'hold the lane')
  await holding
  for (const agent of agents) await escapement.sessions.send(sessionOf({ agent, session: 'template' }), makeJob(0).text)
  await escapement.stop('now')
}

/**
 * Buffers of all statements per claimed run, by `pg_stat_statements`. Handlers wait at a gate: when the counting begins
 * and when it ends, every slot is taken and nothing moves, so exactly `count` runs were settled and claimed between.
 */
export async function buffers({ url, agents, full, slots, warmUp, count }) {
  const gate = createGate()
  const handlers = { ...agentsOf(gate.handler, agents), ...(full ? { full: holdUntilAborted(() => undefined) } : {}) }
  const escapement = create(url, { agents: handlers, lanes: { main: full ? slots + 10 : slots } })
  const began = performance.now()
  await escapement.start()
  const startMs = performance.now() - began
  const firstStart = performance.now()
  await gate.atRest(slots)
  const firstMs = performance.now() - firstStart
  await gate.pass(warmUp, slots)
  // Longer than any pause after which the engine looks again, so that nothing of before falls into the count.
  await sleep(1_000)
  const result = await withClient(url, async (client) => {
    await client.query('select pg_stat_statements_reset()')
    await gate.pass(count, slots)
    return (await client.query(TOUCHED)).rows
  })
  const rssMiB = process.memoryUsage().rss / 2 ** 20
  gate.open()
  await escapement.stop('now')
  const total = result.reduce((sum, row) => sum + Number(row.blocks), 0)
  return { perRun: total / count, startMs, firstMs, rssMiB, statements: statementsOf(result, count) }
}

const TOUCHED = `select query, calls::int as calls, (shared_blks_hit + shared_blks_read)::bigint as blocks
    from pg_stat_statements join pg_database d on d.oid = dbid
   where d.datname = current_database() and query not like '%pg_stat_statements%' order by blocks desc`

const statementsOf = (rows, count) =>
  rows.slice(0, 12).map(({ query, calls, blocks }) => ({
    query: query.replaceAll(/\s+/g, ' ').slice(0, 120),
    calls,
    perRun: Number((Number(blocks) / count).toFixed(2)),
  }))

/** Lets through as many handlers as it is told to, and knows when everybody waits. */
function createGate() {
  let waiting = []
  let allowed = 0
  let started = 0
  return {
    handler: () => {
      started += 1
      if (allowed > 0) {
        allowed -= 1
        return undefined
      }
      return new Promise((resolve) => {
        waiting.push(resolve)
      })
    },
    atRest: (slots) => until(() => waiting.length >= slots, { what: `${slots} runs in flight` }),
    /** `count` runs end and as many start; afterwards `slots` are waiting again. */
    pass: async (count, slots) => {
      const target = started + count
      // Those who wait are let go first; of those who come then, all but the last `slots` pass.
      const leaving = waiting.slice(0, count)
      waiting = waiting.slice(leaving.length)
      allowed = count - leaving.length
      for (const leave of leaving) leave()
      await until(() => started >= target && waiting.length >= slots, { what: `${count} runs` })
      // The last settling is still on its way when the last handler starts.
      await sleep(200)
    },
    open: () => {
      allowed = Infinity
      for (const leave of waiting) leave()
      waiting = []
    },
  }
}
