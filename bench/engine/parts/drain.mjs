// 50,000 no-op jobs of 1,000 agents and 10,000 sessions, from a full queue to an empty one.
import { demand, inTurns } from '../rounds.mjs'
import { ratioTo, round, summary, thousands, withRange } from '../statistics.mjs'

export const title = 'Drain of a full queue, completed per second'
export const minutes = { full: 2.5, quick: 0.4 }

/** These take 15 s and more, and are so much slower that one measurement is enough. */
const SLOW = ['graphile-plain', 'bullmq-postgres']

export async function measure(bench) {
  const count = bench.quick ? 3_000 : 50_000
  const show = ({ perSecond }) => `${thousands(perSecond)}/s`
  const drained = (contestant, store) => once(bench, { contestant, store, count })
  const slow = bench.contestants.filter(({ name }) => SLOW.includes(name))
  const others = bench.contestants.filter(({ name }) => !SLOW.includes(name))
  const results = {
    ...(await inTurns(bench, { name: 'drain', contestants: slow, rounds: 1, show }, drained)),
    ...(await inTurns(bench, { name: 'drain', contestants: others, show }, drained)),
  }
  const facts = Object.fromEntries(Object.entries(results).map(([name, rounds]) => [name, factsOf(rounds)]))
  return { count, facts, rows: rowsOf(facts), notes: NOTES }
}

const NOTES = [
  'Completed jobs are counted in the store of each contestant. graphile-worker deletes completed jobs, so deleted ids are',
  'counted. For Escapement, 1,000 runs are read back, and their attempt, decision and timeline must be complete.',
  'Measured only once, because they take long: graphile-plain and bullmq-postgres.',
]

async function once(bench, { contestant, store: { url, pid, database }, count }) {
  await bench.call(contestant, ['drain.mjs', 'fill'], { url, count })
  if (database !== undefined) await bench.analyze(database)
  const asked = { url, count, server: pid, profile: bench.profile }
  const result = await bench.call(contestant, ['drain.mjs', 'drain'], asked)
  demand(contestant.name, 'completed', { is: result.counts.completed, expected: count })
  return result
}

const factsOf = (rounds) => ({
  perSecond: summary(rounds.map((one) => one.perSecond)),
  perSecondFromStart: summary(rounds.map((one) => one.perSecondFromStart)),
  serverMicros: summary(
    rounds.map((one) => one.serverMicros),
    1,
  ),
  nodeMicros: summary(
    rounds.map((one) => one.nodeMicros),
    1,
  ),
  rounds,
})

function rowsOf(facts) {
  const own = facts.escapement?.perSecond.median
  const raw = facts['raw-sql']?.perSecond.median
  return Object.entries(facts).map(([name, fact]) => ({
    contestant: name,
    'completed/s (range)': withRange(fact.perSecond),
    'ours ×': ratioTo(own, fact.perSecond.median),
    'of raw': ratioTo(fact.perSecond.median, raw),
    'from start/s': thousands(fact.perSecondFromStart.median),
    'server µs': round(fact.serverMicros.median, 1),
    'node µs': round(fact.nodeMicros.median, 1),
  }))
}
