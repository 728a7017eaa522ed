// Submission → start of the handler in the same process: idle, and under a steady load.
import { demand, inTurns } from '../rounds.mjs'
import { median, quantile, ratioTo, round, summary, thousands } from '../statistics.mjs'

export const title = 'Submit → handler starts, milliseconds'
export const minutes = { full: 2.8, quick: 0.7 }

export async function measure(bench) {
  const rounds = bench.quick ? 20 : 60
  const seconds = bench.quick ? 0.5 : 1
  const least = bench.quick ? 300 : 2_000
  const idle = await inTurns(bench, { name: 'latency', show: shown }, (contestant, { url }) =>
    asked(bench, contestant, { name: 'idle', options: { url, rounds } }),
  )
  bench.say('… and at half of the maximum throughput of each:')
  const hot = await inTurns(bench, { name: 'latency', show: shownHot }, (contestant, { url }) =>
    asked(bench, contestant, { name: 'hot', options: { url, seconds, least } }),
  )
  const facts = Object.fromEntries(
    Object.keys(idle).map((name) => [name, { idle: factsOf(idle[name]), hot: hotFactsOf(hot[name]) }]),
  )
  return { seconds, facts, tables: { idle: idleRows(facts), 'under a steady load': hotRows(facts) }, notes: NOTES }
}

const NOTES = [
  'Under load, each gets half of its maximum throughput, measured just before, so the offered load differs: compare the',
  'milliseconds together with the jobs per second. bullmq-redis is not a durable peer (appendfsync everysec).',
]

async function asked(bench, contestant, { name, options }) {
  const result = await bench.call(contestant, ['latency.mjs', name], options)
  demand(contestant.name, 'completed', { is: result.counts.completed, expected: result.submitted })
  return result
}

const shown = ({ times }) => `${median(times).toFixed(2)} ms`
const shownHot = ({ times, offered }) => `${median(times).toFixed(2)} ms at ${thousands(offered)}/s`

/** Median and range over the rounds of each round's p50 and p99. */
const factsOf = (rounds) => ({
  n: rounds.reduce((sum, { times }) => sum + times.length, 0),
  p50: summary(
    rounds.map(({ times }) => median(times)),
    3,
  ),
  p99: summary(
    rounds.map(({ times }) => quantile(times, 0.99)),
    3,
  ),
})

const hotFactsOf = (rounds) => ({
  ...factsOf(rounds),
  most: summary(rounds.map(({ most }) => most)),
  offered: summary(rounds.map(({ offered }) => offered)),
})

const idleRows = (facts) =>
  Object.entries(facts).map(([name, { idle }]) => ({
    ...{ contestant: name, n: idle.n, ...milliseconds(idle) },
    'ours ×': ratioTo(facts.escapement?.idle.p50.median, idle.p50.median),
  }))

const hotRows = (facts) =>
  Object.entries(facts).map(([name, { hot }]) => ({
    ...{ contestant: name, 'at most/s': thousands(hot.most.median), 'offered/s': thousands(hot.offered.median) },
    ...milliseconds(hot),
    'ours ×': ratioTo(facts.escapement?.hot.p50.median, hot.p50.median),
  }))

const milliseconds = ({ p50, p99 }) => ({
  p50: round(p50.median, 2),
  'p50 range': `${round(p50.min, 2)} – ${round(p50.max, 2)}`,
  p99: round(p99.median, 2),
  'p99 range': `${round(p99.min, 2)} – ${round(p99.max, 2)}`,
})
