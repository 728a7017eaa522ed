// Thousands of orgs without work: how soon a node starts the first run, and the cost of idling.
import { seedOrgs, settle, withClient } from '../seeding.mjs'
import { round, thousands } from '../statistics.mjs'

export const title = 'A node among idle orgs'
export const minutes = { full: 3, quick: 0.4 }

const FILE = { file: 'idle-orgs.mjs' }
const PLAN = {
  full: { counts: [5_000, 20_000], seconds: 30, settleSeconds: 10, timeoutMs: 60_000 },
  quick: { counts: [200], seconds: 5, settleSeconds: 2, timeoutMs: 60_000 },
}

export async function measure(bench) {
  const { counts, ...plan } = bench.quick ? PLAN.quick : PLAN.full
  const facts = {}
  for (const count of counts) {
    facts[count] = await once(bench, { count, ...plan })
    bench.say(`${thousands(count)} orgs: first start ${shownMs(facts[count].claimMs, plan)} after ready`)
  }
  return { ...plan, facts, rows: Object.entries(facts).map(([count, fact]) => rowOf(count, fact, plan)), notes: NOTES }
}

const once = (bench, { count, ...plan }) =>
  bench.server.withDatabase('idle_orgs', async (url) => {
    await bench.ask('prepareOrg', { url }, FILE)
    await withClient(url, async (client) => {
      await seedOrgs(client, count)
      await settle(client)
    })
    return bench.ask('amongIdle', { url, pid: bench.server.pid, ...plan }, FILE)
  })

const shownMs = (ms, { timeoutMs }) => (ms === null ? `not within ${timeoutMs / 1_000} s` : `${thousands(ms)} ms`)

const rowOf = (count, fact, plan) => ({
  'idle orgs': thousands(Number(count)),
  'start → ready, ms': round(fact.readyMs),
  'ready → first start': shownMs(fact.claimMs, plan),
  'node, % of a core': round(fact.nodeCpuPercent, 2),
  'server, % of a core': round(fact.serverCpuPercent, 2),
  'node RSS, MiB': round(fact.rssMiB),
})

const NOTES = [
  'Every org has an agent and nothing pending; what it did was counted, and retention has removed it. The message is sent to one org as soon as the node is ready, and sent again while it is refused. Processor time is that of 30 s (5 in a quick run) without work, after a pause.',
]
