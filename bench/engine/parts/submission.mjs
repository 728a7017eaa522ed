// How fast jobs are accepted, durable when the call answers.
import { summary, thousands, withRange } from '../statistics.mjs'

export const title = 'Submission, accepted per second'

export async function measure(bench) {
  const seconds = bench.quick ? 1 : 3
  const rounds = bench.quick ? 1 : 3
  const results = Object.fromEntries(bench.contestants.map(({ name }) => [name, []]))
  for (let i = 0; i < rounds; i += 1)
    for (const contestant of bench.contestants) {
      const result = await bench.server.withDatabase('submission', (url) =>
        bench.call(contestant, 'submission', { url, seconds }),
      )
      results[contestant.name].push(result)
      bench.say(`${contestant.name} ${thousands(result.one)}/s, ${thousands(result.inFlight)}/s`)
    }
  const facts = Object.fromEntries(
    Object.entries(results).map(([name, all]) => [
      name,
      {
        one: summary(all.map((one) => one.one)),
        inFlight: summary(all.map((one) => one.inFlight)),
        ...(all[0].batches === undefined
          ? {}
          : { batchSize: all[0].batchSize, batches: summary(all.map((one) => one.batches)) }),
      },
    ]),
  )
  return { seconds, facts, rows: rowsOf(facts) }
}

function rowsOf(facts) {
  const raw = facts['raw-sql']?.inFlight.median
  return Object.entries(facts).map(([name, fact]) => ({
    contestant: name,
    'one by one': withRange(fact.one),
    '32 in flight': withRange(fact.inFlight),
    'of raw': raw === undefined ? '–' : (fact.inFlight.median / raw).toFixed(2),
    batches: fact.batches === undefined ? '–' : `${withRange(fact.batches)} of ${fact.batchSize}`,
  }))
}
