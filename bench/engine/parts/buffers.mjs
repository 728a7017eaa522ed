// Shared buffers that all statements touch per claimed run, settling included, however much waits or has ended.
import { removeTemplate, seedEnded, seedQueued, settle, withClient } from '../seeding.mjs'
import { round, thousands } from '../statistics.mjs'

export const title = 'Shared buffers per claimed and settled run (pg_stat_statements)'

/** Counting costs a little, so this part has a server of its own. */
export const settings = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'top',
  'pg_stat_statements.track_utility': 'off',
}

const SLOTS = 100

export async function measure(bench) {
  const most = bench.quick ? 100_000 : 1_000_000
  const ended = bench.quick ? 1_000_000 : bench.ended
  const facts = { layouts: {}, history: {} }
  for (const layout of ['one session', 'one agent', '10,000 agents', 'full agent'])
    for (const queued of [1_000, most]) {
      const fact = await queuedLayout(bench, { layout, queued })
      ;(facts.layouts[layout] ??= {})[queued] = fact
      bench.say(`${layout}, ${thousands(queued)} queued: ${fact.perRun.toFixed(1)}`)
    }
  for (const count of [10_000, ended]) {
    facts.history[count] = await history(bench, count)
    bench.say(`${thousands(count)} ended: ${facts.history[count].perRun.toFixed(1)}`)
  }
  return { facts, rows: rowsOf(facts) }
}

function rowsOf({ layouts, history: ended }) {
  const groups = [...Object.entries(layouts), ['ended runs', ended]]
  return groups.flatMap(([layout, byCount]) => {
    const [least] = Object.values(byCount)
    return Object.entries(byCount).map(([count, fact]) => ({
      layout,
      runs: thousands(Number(count)),
      'buffers/run': round(fact.perRun, 1),
      growth: (fact.perRun / least.perRun).toFixed(2),
      'start() ms': round(fact.startMs),
      'first claim ms': round(fact.firstMs),
      'node MiB': round(fact.rssMiB),
    }))
  })
}

const queuedLayout = (bench, { layout, queued }) =>
  bench.server.withDatabase('buffers', async (url) => {
    const full = layout === 'full agent'
    const alone = layout === 'one session'
    await bench.ask('makeTemplates', { url, agents: ['template', 'a0', ...(full ? ['full'] : [])] })
    await withClient(url, async (client) => {
      await client.query('create extension if not exists pg_stat_statements schema public')
      await removeTemplate(client, 'a0')
      await removeTemplate(client, 'full')
      if (full) await client.query(`update agent set max_concurrent = 10 where id = 'full'`)
      await seedQueued(client, { template: 'template', layout, count: queued })
      // Work that is not behind the full agent, or nothing could be claimed.
      const free = { agent: `'a' || i % 10`, session: `'free' || i` }
      if (full) await seedQueued(client, { template: 'template', layout: free, count: 2_000, from: queued })
      await removeTemplate(client, 'template')
      await settle(client)
    })
    const agents = layout === '10,000 agents' ? 10_000 : 10
    const window = alone ? { slots: 1, warmUp: 20, count: 100 } : { slots: SLOTS, warmUp: 200, count: 500 }
    return bench.ask('buffers', { url, agents, full, ...window })
  })

const history = (bench, count) =>
  bench.server.withDatabase('buffers', async (url) => {
    await bench.ask('makeTemplates', { url, agents: ['template'], ended: true })
    await withClient(url, async (client) => {
      await client.query('create extension if not exists pg_stat_statements schema public')
      await seedEnded(client, { count, say: bench.say })
      const layout = { agent: `'a' || i % 1000`, session: `'s' || i % 10000` }
      await seedQueued(client, { template: 'template', layout, count: 20_000, from: 20_000_000 })
      await removeTemplate(client, 'template')
      await settle(client)
    })
    return bench.ask('buffers', { url, agents: 1_000, full: false, slots: SLOTS, warmUp: 1_000, count: 2_000 })
  })
