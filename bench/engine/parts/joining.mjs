// A second node joins while the first drains a full queue: how much the first one slows down, and for how long.
import { thousands } from '../statistics.mjs'
import { BUCKET_MS, factsOf } from './joining/throughput.mjs'
import { QUEUED_AGENTS, withQueued } from './with-queued.mjs'

export const title = 'A node joins a drain'
export const minutes = { full: 1, quick: 0.5 }

/** The share of the queue that the first node has drained when the second one starts. */
const SHARE_BEFORE = 0.15

export async function measure(bench) {
  const count = bench.quick ? 60_000 : 400_000
  const [first, second] = await withQueued(bench, { name: 'joining', count }, (url) => {
    const begin = (startAt) => bench.ask('work', { url, agents: QUEUED_AGENTS, startAt }, { file: 'joining.mjs' })
    return Promise.all([begin(count), begin(count * (1 - SHARE_BEFORE))])
  })
  if (first.handled + second.handled < count)
    throw new Error(`${first.handled} + ${second.handled} of ${count} runs were handled`)
  const facts = { count, ...factsOf(first, second) }
  return { facts, nodes: { first, second }, rows: [rowOf(facts)], notes: NOTES }
}

const rowOf = (fact) => ({
  runs: thousands(fact.count),
  'start → first run of the second node, ms': fact.joinMs ?? 'not before the queue was empty',
  'first node before, runs/s': thousands(fact.before),
  during: thousands(fact.during),
  'lowest during': thousands(fact.lowest),
  after: thousands(fact.after),
  'below a quarter for, ms': fact.dipMs,
  'longest pause, ms': fact.longestPauseMs === 0 ? `≤ ${BUCKET_MS}` : fact.longestPauseMs,
})

const NOTES = [
  `Runs a second of the first node in steps of ${BUCKET_MS} ms: before the second node is started, until a second after its first run, and after that. Afterwards both share the work, so the first one has about half. A pause is the time between two starts on the first node, from when the second one is started.`,
]
