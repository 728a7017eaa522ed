// Millions of queued tasks of one org: other orgs on the same node, reads of that org, and a restart.
import { CROWDED_ORG } from '../measurements/crowded.mjs'
import { round, thousands } from '../statistics.mjs'
import { QUEUED_AGENTS, withQueued } from './with-queued.mjs'

export const title = 'Millions of queued tasks in one org'
export const minutes = { full: 2.4, quick: 0.7 }

const DAY_MS = 86_400_000
const TIMEOUT_MS = 60_000
const LAYOUT = { agent: `'a' || case when i % 2 = 0 then 0 else i % ${QUEUED_AGENTS} end`, session: 'null::text' }

/** BENCH_TASKS=5000000 measures another number of tasks. */
const countOf = ({ quick }) => Number(process.env.BENCH_TASKS ?? (quick ? 20_000 : 1_000_000))

export async function measure(bench) {
  const count = countOf(bench)
  const template = { org: CROWDED_ORG, tasks: true, expiresInMs: DAY_MS }
  const fact = await withQueued(bench, { name: 'crowded', count, layout: LAYOUT, template }, async (url) => {
    const asked = { url, agents: QUEUED_AGENTS, timeoutMs: TIMEOUT_MS, seconds: bench.quick ? 5 : 30 }
    const crowd = await bench.ask('crowd', asked, { file: 'crowded.mjs' })
    const again = await bench.ask('startAgain', asked, { file: 'after-kill.mjs' })
    return { ...crowd, restartMs: again.firstMs, restartRssMiB: again.peakRssMiB }
  })
  return { facts: { count, ...fact }, tables: tablesOf(count, fact), notes: NOTES }
}

const tablesOf = (count, fact) => ({
  'Beside another org': [
    {
      tasks: thousands(count),
      'started meanwhile': thousands(fact.started),
      'other org: messages': thousands(fact.othersSent),
      'starts p50, ms': round(fact.othersP50, 1),
      'starts p99, ms': round(fact.othersP99, 1),
      'never started': fact.othersMissing,
      'restart → first run, ms': fact.restartMs === null ? 'never' : round(fact.restartMs),
      'node RSS at its highest, MiB': round(fact.restartRssMiB),
    },
  ],
  'Reads of the org': Object.entries(fact.reads).map(([read, { p50, p99 }]) => ({
    read,
    'p50, ms': round(p50, 1),
    'p99, ms': round(p99, 1),
  })),
})

const NOTES = [
  'Half of the tasks are of one agent, the others of a thousand. The node executes them, a hundred at a time and 100 ms each, and another org of it is sent 50 messages a second; a message that never starts counts as 60 s late. The reads are calls of a second node, one after the other, meanwhile. Then a new node starts on what is left.',
]
