// How fast jobs are accepted.
import { demand, inTurns } from '../rounds.mjs'
import { ratioTo, summary, thousands, withRange } from '../statistics.mjs'

export const title = 'Submission, accepted per second'
export const minutes = { full: 2.1, quick: 0.48 }

export async function measure(bench) {
  const seconds = bench.quick ? 0.3 : 0.8
  const show = ({ one, inFlight, batches }) => `${thousands(one)}/s, ${thousands(inFlight)}/s, ${thousands(batches)}/s`
  const results = await inTurns(bench, { name: 'submission', show }, async (contestant, { url }) => {
    const result = await bench.call(contestant, ['submission.mjs', 'submission'], { url, seconds })
    const { submitted, counts } = result
    demand(contestant.name, 'accepted', { is: counts.left + counts.completed, expected: submitted })
    return result
  })
  const facts = Object.fromEntries(
    Object.entries(results).map(([name, all]) => [
      name,
      {
        one: summary(all.map((round) => round.one)),
        inFlight: summary(all.map((round) => round.inFlight)),
        batches: summary(all.map((round) => round.batches)),
        batchSize: all[0].batchSize,
      },
    ]),
  )
  return { seconds, facts, rows: rowsOf(facts), notes: NOTES }
}

const NOTES = [
  'A batch is one call of each contestant; of Escapement, `sessions.sendMany` with 1,000 messages.',
  'bullmq-redis answers before anything is on the disk (appendfsync everysec: up to a second may be lost).',
]

function rowsOf(facts) {
  const own = facts.escapement
  return Object.entries(facts).map(([name, fact]) => ({
    contestant: name,
    'one by one (range)': withRange(fact.one),
    'ours × (one)': ratioTo(own?.one.median, fact.one.median),
    '32 in flight (range)': withRange(fact.inFlight),
    'ours × (32)': ratioTo(own?.inFlight.median, fact.inFlight.median),
    'batches of 1,000 (range)': withRange(fact.batches),
    'ours × (batches)': ratioTo(own?.batches.median, fact.batches.median),
  }))
}
