// A backlog whose deadline passed while no node was running: how long until all of it is recorded as expired, and the effect on
// other orgs.
import { setTimeout as sleep } from 'node:timers/promises'
import { EXPIRED_ORG } from '../measurements/expiry.mjs'
import { round, thousands } from '../statistics.mjs'
import { withQueued } from './with-queued.mjs'

export const title = 'Runs that expired while no node was up'
export const minutes = { full: 2, quick: 0.6 }

const PLAN = { full: { count: 300_000, timeoutMs: 180_000 }, quick: { count: 20_000, timeoutMs: 120_000 } }
/** Long enough to copy the template before its deadline, which every copy shares. */
const EXPIRES_IN_MS = 10_000

export async function measure(bench) {
  const { count, timeoutMs } = bench.quick ? PLAN.quick : PLAN.full
  const layout = { agent: `'a' || i % 10`, session: `'s' || i % 10000` }
  const template = { org: EXPIRED_ORG, expiresInMs: EXPIRES_IN_MS }
  const fact = await withQueued(bench, { name: 'expiry', count, layout, template }, async (url) => {
    // The deadline started before seeding, which takes longer than the deadline.
    await sleep(EXPIRES_IN_MS)
    return bench.ask('expire', { url, count, timeoutMs }, { file: 'expiry.mjs' })
  })
  return { facts: { count, timeoutMs, ...fact }, rows: [rowOf({ count, timeoutMs, ...fact })], notes: NOTES }
}

const rowOf = (fact) => ({
  runs: thousands(fact.count),
  'all expired after':
    fact.allMs === null ? `not within ${fact.timeoutMs / 1_000} s` : `${round(fact.allMs / 1_000, 1)} s`,
  expired: thousands(fact.expired),
  'otherwise ended or left': fact.otherwise,
  started: fact.started,
  'event loop held, max ms of processor': round(fact.loopCpuMaxMs ?? fact.loopMaxMs),
  'blocked, max ms': round(fact.loopMaxMs),
  'p99 ms': round(fact.loopP99Ms),
  'longest garbage collection, ms': round(fact.gcMaxMs),
  'other org: starts p50 ms': round(fact.othersP50),
  'starts p99 ms': round(fact.othersP99),
  'never started': fact.othersMissing,
  'node RSS at its highest, MiB': round(fact.rssMiB),
})

const NOTES = [
  'The clock runs from start(). Meanwhile another org of the node is sent 50 messages a second; a message that never starts counts as 60 s late. How long the node held its event loop is the processor time of its main thread between two ticks of 5 ms; how long the loop was blocked is what perf_hooks.monitorEventLoopDelay saw, less its own interval, and has in it that node and server share the cores. Loading the program is in neither.',
]
