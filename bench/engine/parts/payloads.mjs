// The drain with larger payloads: the cost of prompts beyond sixty bytes.
import { CONTESTANTS } from '../contestants.mjs'
import { demand, inTurns } from '../rounds.mjs'
import { ratioTo, round, summary, thousands, withRange } from '../statistics.mjs'

export const title = 'Drain by size of the payload, completed per second'
export const minutes = { full: 1.6, quick: 0.5 }

const BYTES = { '60 bytes': 60, '2 KB': 2_048, '20 KB': 20_480 }

export async function measure(bench) {
  const count = bench.quick ? 3_000 : 10_000
  const own = CONTESTANTS.find(({ name }) => name === 'escapement')
  const sizes = Object.entries(BYTES).map(([name, bytes]) => ({ ...own, name, bytes }))
  const show = ({ perSecond }) => `${thousands(perSecond)}/s`
  const results = await inTurns(bench, { name: 'payloads', contestants: sizes, show }, async (size, store) => {
    await bench.call(size, ['drain.mjs', 'fill'], { url: store.url, count, bytes: size.bytes })
    await bench.analyze(store.database)
    const result = await bench.call(size, ['drain.mjs', 'drain'], { url: store.url, count, server: store.pid })
    demand(size.name, 'completed', { is: result.counts.completed, expected: count })
    return result
  })
  const facts = Object.fromEntries(Object.entries(results).map(([name, rounds]) => [name, factsOf(rounds)]))
  return { count, facts, rows: Object.entries(facts).map((entry) => rowOf(entry, facts['60 bytes'])), notes: NOTES }
}

const factsOf = (rounds) => ({
  perSecond: summary(rounds.map((one) => one.perSecond)),
  serverMicros: summary(
    rounds.map((one) => one.serverMicros),
    1,
  ),
  nodeMicros: summary(
    rounds.map((one) => one.nodeMicros),
    1,
  ),
})

const rowOf = ([name, fact], smallest) => ({
  payload: name,
  'completed/s (range)': withRange(fact.perSecond),
  'of 60 bytes': ratioTo(fact.perSecond.median, smallest.perSecond.median),
  'server µs': round(fact.serverMicros.median, 1),
  'node µs': round(fact.nodeMicros.median, 1),
})

const NOTES = ['The part `drain` with fewer jobs, for Escapement alone. The texts are random, so they do not compress.']
