// A flood, steady traffic and an agent with little work together: sessions, retries, long jobs, fifty at a time.
import { demand, inTurns } from '../rounds.mjs'
import { median, quantile, ratioTo, round, summary, thousands, withRange } from '../statistics.mjs'

export const title = 'Mixed load of five agents: sessions in order, retries, long jobs; waits in milliseconds'
export const minutes = { full: 2.4, quick: 0.4 }

/** Measured only once, because named queues make it very slow. */
const SLOW = 'graphile-plain'
const ROLES = ['flood', 'steady', 'small']
/** What each of them does not support. */
const CANNOT = {
  'pg-boss': 'keeps sessions in order (key_strict_fifo); no fairness between agents; retries at once or after seconds.',
  'graphile-worker':
    'one job of a session at a time (named queues), but later jobs overtake a retry; no fairness; retries after e¹ s.',
  'graphile-plain': 'as graphile-worker; measured once, and not in a quick run.',
  'bullmq-postgres': 'no order in sessions and no fairness without BullMQ Pro (groups).',
  'bullmq-redis': 'as bullmq-postgres.',
  'bullmq-redis-always': 'as bullmq-postgres.',
}

export async function measure(bench) {
  const flood = bench.quick ? 2_000 : 10_000
  const seconds = bench.quick ? 1 : 2
  const contestants = bench.contestants.filter(({ name }) => name !== 'raw-sql')
  const show = ({ perSecond, waits, finished, submitted, failure }) =>
    `${thousands(perSecond)}/s, small ${thousands(median(waits.small))} ms` +
    (finished === submitted ? '' : `, ${thousands(finished)} of ${thousands(submitted)} finished ${failure ?? ''}`)
  const once = (contestant, { url }) =>
    resultOf(contestant, () => bench.call(contestant, ['mixed.mjs', 'mixed'], { url, flood, seconds }))
  const slow = bench.quick ? [] : contestants.filter(({ name }) => name === SLOW)
  const others = contestants.filter(({ name }) => name !== SLOW)
  const results = {
    ...(await inTurns(bench, { name: 'mixed', contestants: slow, rounds: 1, show }, once)),
    ...(await inTurns(bench, { name: 'mixed', contestants: others, show }, once)),
  }
  const facts = Object.fromEntries(Object.entries(results).map(([name, rounds]) => [name, factsOf(rounds)]))
  return { flood, seconds, facts, rows: rowsOf(facts), notes: notesOf({ contestants, flood, seconds }) }
}

/** A peer that does not end, or whose process fails, counts as what it finished. Escapement has to complete everything. */
export async function resultOf({ name, rival }, call) {
  try {
    const result = await call()
    if (rival) return { ...result, finished: Math.min(result.finished, result.counts.completed) }
    demand(name, 'completed', { is: result.counts.completed, expected: result.submitted })
    return result
  } catch (error) {
    if (!rival) throw error
    return { ...NOTHING, failure: error instanceof Error ? error.message : String(error) }
  }
}

const NOTHING = {
  ...{ submitted: null, finished: 0, perSecond: 0, allSeconds: null, outOfOrder: null, startedAgain: null },
  waits: { flood: [], steady: [], small: [] },
}

const notesOf = ({ contestants, flood, seconds }) => [
  `"flood": ${thousands(flood)} jobs of one agent at once; at the same time for ${seconds} s "steady": three agents of 100/s, "small": one of 50/s.`,
  'A peer that has not ended after 180 s counts as what it finished; jobs that have not started have waited until then.',
  'Waits: submitted → first start. "out of order": started before an earlier one of its session had ended.',
  'Left out: raw-sql, which has neither order nor retries nor more than one batch at a time.',
  ...contestants.flatMap(({ name }) => (CANNOT[name] === undefined ? [] : [`${name}: ${CANNOT[name]}`])),
]

const factsOf = (rounds) => ({
  finished: summary(rounds.map((one) => one.finished)),
  submitted: rounds.find(({ submitted }) => submitted !== null)?.submitted ?? null,
  perSecond: summary(rounds.map((one) => one.perSecond)),
  allSeconds: summary(
    rounds.map((one) => one.allSeconds),
    1,
  ),
  outOfOrder: summary(rounds.map((one) => one.outOfOrder)),
  startedAgain: summary(rounds.map((one) => one.startedAgain)),
  waits: Object.fromEntries(ROLES.map((role) => [role, waitsOf(rounds.map(({ waits }) => waits[role]))])),
})

const waitsOf = (rounds) => ({
  p50: summary(
    rounds.map((all) => median(all)),
    1,
  ),
  p99: summary(
    rounds.map((all) => quantile(all, 0.99)),
    1,
  ),
})

function rowsOf(facts) {
  const own = facts.escapement
  return Object.entries(facts).map(([name, fact]) => ({
    contestant: name,
    'jobs/s (range)': withRange(fact.perSecond),
    'ours ×': ratioTo(own?.perSecond.median, fact.perSecond.median || null),
    finished: fact.finished.min === fact.submitted ? 'all' : `${thousands(fact.finished.min)} or more`,
    'all after s': fact.allSeconds.median === null ? '–' : round(fact.allSeconds.median, 1),
    ...Object.fromEntries(ROLES.map((role) => [`${role} p50 / p99`, waitShown(fact.waits[role])])),
    'small p99 (range)': withRange(fact.waits.small.p99),
    'out of order': thousands(fact.outOfOrder.median),
  }))
}

const waitShown = ({ p50, p99 }) => `${thousands(p50.median)} / ${thousands(p99.median)}`
