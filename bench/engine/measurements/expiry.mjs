// A node that starts after the deadline of a whole backlog, and works for another org meanwhile. Runs in a separate process.
import { existsSync, readFileSync } from 'node:fs'
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { agentsOf, create, sessionOf } from '../escapement.mjs'
import { withClient } from '../seeding.mjs'
import { quantile } from '../statistics.mjs'
import { until } from '../world.mjs'

/** The org whose runs have expired; messages are sent to another org. */
export const EXPIRED_ORG = 'expired'
const OTHER = 'other number '
const EVERY_MS = 20
const RESOLUTION_MS = 5

/** The node is not stopped, because a node that makes no progress would delay the benchmark. */
export async function expire({ url, count, timeoutMs }) {
  const others = { begun: [], late: [] }
  let started = 0
  const handler = ({ payload: { text } }) => {
    if (text.startsWith(OTHER)) others.late.push(performance.now() - others.begun[Number(text.slice(OTHER.length))])
    else started += 1
  }
  const escapement = create(url, { agents: agentsOf(handler, 10), lanes: { main: 100 }, sessions: { cap: 100_000 } })
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  const collections = observeCollections()
  const stretches = watchStretches()
  const began = performance.now()
  await escapement.start()
  const sending = sendSteadily(escapement, others)
  const allMs = await withClient(url, (client) => untilNothingPends(client, { began, timeoutMs }))
  delay.disable()
  sending.stop()
  stretches.stop()
  await until(() => others.late.length === others.begun.length, { timeoutMs: 10_000 }).catch(() => undefined)
  const states = await withClient(url, statesOf)
  return {
    ...{ allMs, started, expired: states.expired ?? 0, otherwise: count - (states.expired ?? 0) },
    loopMaxMs: blockOf(delay.max),
    loopP99Ms: blockOf(delay.percentile(99)),
    gcMaxMs: collections.longestMs(),
    loopCpuMaxMs: stretches.longestMs(),
    othersSent: others.begun.length,
    // A message that never started counts as later than all others.
    othersP50: quantile(withMissing(others), 0.5),
    othersP99: quantile(withMissing(others), 0.99),
    othersMissing: others.begun.length - others.late.length,
    rssMiB: process.resourceUsage().maxRSS / 1024,
  }
}

/** Duration of the longest garbage collection, which also blocks the event loop. */
function observeCollections() {
  let longest = 0
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest = Math.max(longest, duration)
  })
  observer.observe({ entryTypes: ['gc'] })
  return { longestMs: () => longest }
}

/** CPU time of the current thread in nanoseconds, from Linux. */
const OWN_CPU = '/proc/thread-self/schedstat'

/**
 * Maximum CPU time between two ticks of the event loop: how long the node itself held the loop. The event loop delay also
 * includes waiting for a core that the server uses. Null if the system doesn't provide it.
 */
function watchStretches() {
  if (!existsSync(OWN_CPU)) return { longestMs: () => null, stop: () => undefined }
  const cpuMs = () => Number(readFileSync(OWN_CPU, 'latin1').split(' ', 1)[0]) / 1e6
  let longest = 0
  let before = cpuMs()
  const timer = setInterval(() => {
    const now = cpuMs()
    longest = Math.max(longest, now - before)
    before = now
  }, RESOLUTION_MS)
  return { longestMs: () => longest, stop: () => clearInterval(timer) }
}

/** The interval between two ticks, minus the requested interval. */
const blockOf = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS)

const withMissing = ({ begun, late }) => [...late, ...Array.from({ length: begun.length - late.length }, () => 60_000)]

/** Sends messages to the other org at a steady rate, without waiting for responses. */
function sendSteadily(escapement, { begun }) {
  const timer = setInterval(() => {
    const n = begun.push(performance.now()) - 1
    const session = sessionOf({ agent: `a${n % 10}`, session: `other${n % 1_000}` })
    // A refused message counts as never started.
    escapement.sessions.send(session, `${OTHER}${n}`).catch(() => undefined)
  }, EVERY_MS)
  return { stop: () => clearInterval(timer) }
}

async function untilNothingPends(client, { began, timeoutMs }) {
  const left = `select exists (select from pending where org_id = '${EXPIRED_ORG}')
    or exists (select from backlog_line where org_id = '${EXPIRED_ORG}') as is`
  while (performance.now() - began < timeoutMs) {
    if (!(await client.query(left)).rows[0].is) return performance.now() - began
    await sleep(100)
  }
  return null
}

async function statesOf(client) {
  const { rows } = await client.query(
    `select state, count(*)::int as count from run where org_id = '${EXPIRED_ORG}' and state is not null group by state`,
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}
