// A second node joins while the first works off a full queue: how much the first one loses, and for how long.
import { setTimeout as sleep } from 'node:timers/promises'
import { withClient } from '../seeding.mjs'
import { round, thousands } from '../statistics.mjs'
import { BUCKET_MS, factsOf } from './joining/throughput.mjs'
import { QUEUED_AGENTS, withQueued } from './with-queued.mjs'

export const title = 'A node joins a drain'
export const minutes = { full: 1, quick: 0.5 }

const FILE = { file: 'joining.mjs' }
/** How much of the queue the first node has worked off when the second one comes. */
const SHARE_BEFORE = 0.15

export async function measure(bench) {
  const count = bench.quick ? 60_000 : 400_000
  const [first, second] = await withQueued(bench, { name: 'joining', count }, (url) =>
    withClient(url, (client) => joined(bench, { url, client, count })),
  )
  if (first.handled + second.handled !== count)
    throw new Error(`${first.handled} + ${second.handled} of ${count} runs were handled`)
  const facts = { count, ...factsOf(first, second) }
  return { facts, nodes: { first, second }, rows: [rowOf(facts)], notes: NOTES }
}

async function joined(bench, { url, client, count }) {
  const begin = () => bench.ask('work', { url, agents: QUEUED_AGENTS }, FILE)
  const first = begin()
  const left = async () => (await client.query('select count(*)::int as left from pending')).rows[0].left
  const enough = async () => {
    while ((await left()) > count * (1 - SHARE_BEFORE)) await sleep(100)
  }
  // The first node does not end before the queue is empty, unless it fails.
  await Promise.race([enough(), first])
  return Promise.all([first, begin()])
}

const rowOf = (fact) => ({
  runs: thousands(fact.count),
  'start → first run of the second node, ms': round(fact.joinMs),
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
