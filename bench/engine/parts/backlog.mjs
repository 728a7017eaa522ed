// Long queues: memory of the node, time to the first run, and buffers per claimed and settled run.
import { seedQueued, settle, withClient } from '../seeding.mjs'
import { round, thousands } from '../statistics.mjs'
import { settings as counting, withTemplate } from './growth.mjs'

export const title = 'Long queues: node RSS, start → first run, shared buffers per claimed and settled run'
export const minutes = { full: 4.4, quick: 0.7 }

/** Counting has a cost, so this part uses a separate server. */
export const settings = { ...counting, max_wal_size: '16GB', checkpoint_timeout: '30min' }

const FILE = { file: 'growth.mjs' }
const SLOTS = 100
/** Like one agent, but its limit is reached; others have a few runs. */
const FULL = 'full agent'
const AGENTS = { 'one session': 10, 'one agent': 10, '10,000 agents': 10_000, [FULL]: 10 }

/** The numbers of queued runs: BENCH_QUEUED=1000,10000000 measures others. */
const countsOf = ({ quick }) =>
  process.env.BENCH_QUEUED?.split(',').map(Number) ?? (quick ? [1_000, 20_000] : [1_000, 1_000_000])

export async function measure(bench) {
  const layouts = {}
  for (const layout of Object.keys(AGENTS)) {
    layouts[layout] = {}
    for (const count of countsOf(bench)) layouts[layout][count] = await measureQueue(bench, layout, count)
  }
  return { facts: { layouts }, tables: tablesOf(layouts), notes: NOTES }
}

/** A database for each queue, so that nothing of the one before is left. */
const measureQueue = (bench, layout, count) =>
  withTemplate(bench, { agents: ['template', 'a0', 'full'] }, async (url) => {
    const full = layout === FULL
    await withClient(url, async (client) => {
      if (full) await client.query(`update agent set max_concurrent = 10 where id = 'full'`)
      await seedQueued(client, { layout, count })
      // Runs of another agent than the full one, or nothing could be claimed.
      const free = { agent: `'a' || i % 10`, session: `'free' || i` }
      if (full) await seedQueued(client, { layout: free, count: 2_000, from: count })
      await settle(client)
    })
    bench.say(`${layout}, ${thousands(count)}: written`)
    const window =
      layout === 'one session' ? { slots: 1, warmUp: 20, count: 100 } : { slots: SLOTS, warmUp: 200, count: 500 }
    const fact = await bench.ask('buffers', { url, agents: AGENTS[layout], full, ...window }, FILE)
    bench.say(`${layout}, ${thousands(count)}: ${fact.buffersPerRun.toFixed(1)} buffers, ${round(fact.peakRssMiB)} MiB`)
    return fact
  })

const tablesOf = (layouts) =>
  Object.fromEntries(
    Object.entries(layouts).map(([layout, byCount]) => {
      const [least] = Object.values(byCount)
      return [layout, Object.entries(byCount).map(([count, fact]) => rowOf(Number(count), fact, least))]
    }),
  )

const rowOf = (count, fact, least) => ({
  queued: thousands(count),
  'buffers/run': round(fact.buffersPerRun, 1),
  growth: (fact.buffersPerRun / least.buffersPerRun).toFixed(2),
  'start() ms': round(fact.startMs),
  'start → first run, ms': round(fact.startMs + fact.beganMs),
  'node RSS at its highest, MiB': round(fact.peakRssMiB),
})

const NOTES = [
  'The rows are one row that the library wrote, multiplied in SQL into `pending` and `backlog` as submission leaves them, while no node runs; limits are raised, deadlines are beyond the run. RSS is that of the node, with its handlers and the benchmark, without PostgreSQL. Exactly so many runs are claimed and settled between two moments at which every slot is taken and nothing moves.',
]
