// The cost of decisions without a database: Escapement's ready queue compared with in-process queues.
import { summary, thousands, withRange } from './engine/statistics.mjs'

export const title = '50,000 no-ops of 10,000 keys in process, per second'
export const minutes = { full: 0.2, quick: 0.1 }
export const store = 'none'

/** The guarantees of Escapement that each contestant gives. */
const CONTESTANTS = {
  escapement: 'order per session; limits of session, agent, org and lane; fairness; priorities',
  'p-queue per key': 'order per key',
  'fastq per key': 'order per key',
  'fastq, one queue': 'nothing: one queue, no keys',
}

export async function measure(bench) {
  const all = Object.fromEntries(Object.keys(CONTESTANTS).map((name) => [name, []]))
  for (let round = 0; round < bench.rounds; round += 1)
    for (const name of Object.keys(CONTESTANTS))
      all[name].push(await bench.ask('inProcess', { contestant: name }, { file: 'in-process.mjs' }))
  const facts = Object.fromEntries(Object.entries(all).map(([name, speeds]) => [name, { perSecond: summary(speeds) }]))
  bench.say(
    Object.entries(facts)
      .map(([name, fact]) => `${name} ${thousands(fact.perSecond.median)}`)
      .join(', '),
  )
  const rows = Object.entries(facts).map(([name, { perSecond }]) => ({
    contestant: name,
    'per second (range)': withRange(perSecond),
    'Escapement is': `${(facts.escapement.perSecond.median / perSecond.median).toFixed(2)} ×`,
    'what it keeps': CONTESTANTS[name],
  }))
  return { facts, rows, notes: NOTES }
}

const NOTES = [
  'Escapement is its decision alone: the queue that the engine keeps of an org, with 1,000 slots. It calls no handler and makes no promise; the queues do both. It shows what a decision costs, not that a queue in memory could be replaced by it: a run through the database is what the other parts measure.',
]
