// The cost of a claimed and settled run for the server, with growing numbers of ended runs, nodes and sessions. The part backlog
// has that of queued runs.
import { seedEnded, seedQueued, setTemplateAside, settle, withClient } from '../seeding.mjs'
import { round, thousands } from '../statistics.mjs'
import { drainWith } from './growth/drain-with.mjs'

export const title = 'Growth: shared buffers per claimed and settled run (pg_stat_statements)'
export const minutes = { full: 4.5, quick: 0.5 }

/** Counting has a cost, so this part uses a separate server. */
export const settings = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'top',
  'pg_stat_statements.track_utility': 'off',
}

const FILE = { file: 'growth.mjs' }
const SLOTS = 100
const SPREAD = { agent: `'a' || i % 1000`, session: `'s' || i % 10000` }
const PLAN = {
  full: {
    ended: [10_000, 100_000, 1_000_000, 10_000_000],
    nodes: [1, 2, 3, 4],
    sessions: [10, 100, 1_000, 10_000, 100_000],
    runs: 40_000,
  },
  quick: {
    ended: [10_000, 100_000],
    nodes: [1, 2],
    sessions: [10, 1_000],
    runs: 20_000,
  },
}

export async function measure(bench) {
  const plan = bench.quick ? PLAN.quick : PLAN.full
  const curves = {}
  curves.ended = await endedCurve(bench, plan.ended)
  curves.nodes = await curveOf(plan.nodes, (nodes) =>
    drain(bench, { nodes, count: plan.runs, sessions: 10_000, name: `nodes ${nodes}` }),
  )
  curves.sessions = await curveOf(plan.sessions, (sessions) =>
    drain(bench, {
      // Ten sessions run only ten runs at a time, so they get fewer runs.
      ...{ nodes: 1, sessions, count: Math.max(Math.min(plan.runs, sessions * 400), sessions) },
      name: `sessions ${thousands(sessions)}`,
    }),
  )
  return { facts: { curves }, tables: tablesOf(curves), notes: NOTES }
}

async function curveOf(counts, measureAt) {
  const curve = {}
  for (const count of counts) curve[count] = await measureAt(count)
  return curve
}

/** Adds more and more ended runs to one database, and 5,000 more queued ones each time. */
const endedCurve = (bench, counts) =>
  withTemplate(bench, { agents: ['template'], ended: true }, async (url) => {
    let from = 0
    return curveOf(counts, async (count) => {
      await withClient(url, (one) =>
        withClient(url, async (other) => {
          await seedEnded([one, other], { count, from, say: bench.say })
          await seedQueued(one, { layout: SPREAD, count: 5_000, from: 20_000_000 + count })
          await settle(one)
        }),
      )
      from = count
      const asked = { url, agents: 1_000, full: false, slots: SLOTS, warmUp: 1_000, count: 2_000 }
      const fact = await bench.ask('buffers', asked, FILE)
      bench.say(`ended, ${thousands(count)}: ${fact.buffersPerRun.toFixed(1)}`)
      return fact
    })
  })

/** A full queue that this many nodes drain. */
const drain = (bench, { nodes, count, sessions, name }) =>
  withTemplate(bench, { agents: ['template'] }, async (url) => {
    await withClient(url, async (client) => {
      const layout = { agent: `'a' || (i % ${sessions}) % 1000`, session: `'s' || i % ${sessions}` }
      await seedQueued(client, { layout, count })
      await settle(client)
    })
    const fact = await drainWith(bench, { url, nodes, count })
    bench.say(`${name}: ${fact.buffersPerRun.toFixed(1)}, ${thousands(fact.perSecond)}/s`)
    return fact
  })

export const withTemplate = (bench, templates, work) =>
  bench.server.withDatabase('growth', async (url) => {
    await bench.ask('makeTemplates', { url, ...templates }, FILE)
    await withClient(url, async (client) => {
      await client.query('create extension if not exists pg_stat_statements schema public')
      await setTemplateAside(client, 'template')
    })
    return work(url)
  })

const tablesOf = (curves) =>
  Object.fromEntries(
    Object.entries(curves).map(([name, curve]) => {
      const [least] = Object.values(curve)
      return [name, Object.entries(curve).map(([count, fact]) => rowOf(Number(count), fact, least))]
    }),
  )

const rowOf = (count, fact, least) => ({
  count: thousands(count),
  'buffers/run': round(fact.buffersPerRun, 1),
  growth: (fact.buffersPerRun / least.buffersPerRun).toFixed(2),
  ...(fact.perSecond === undefined
    ? {}
    : { 'runs/s': thousands(fact.perSecond), 'runs/s of the first': (fact.perSecond / least.perSecond).toFixed(2) }),
})

const NOTES = [
  'Rows by the million are one row that the library wrote, multiplied in SQL while no node runs. Ended: exactly so many runs are claimed and settled between two moments at which every slot is taken and nothing moves. Nodes and sessions: a full queue is worked off, counted from when the last node has begun; the statistics of the server are switched on, so the speed is below that of the part `drain`.',
  'The nodes share two cores with PostgreSQL here: more of them cannot be faster, and the question is what they cost each other.',
]
