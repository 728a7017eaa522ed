// A node with a long queue is killed: how soon the next one starts the first run, and how much memory it uses.
import { round, thousands } from '../statistics.mjs'
import { QUEUED_AGENTS, withQueued } from './with-queued.mjs'

export const title = 'Start → first run after kill -9 with a long queue'
export const minutes = { full: 2, quick: 0.4 }

const FILE = { file: 'after-kill.mjs' }
const TIMEOUT_MS = 120_000

export async function measure(bench) {
  const count = bench.quick ? 50_000 : 1_000_000
  const fact = await withQueued(bench, { name: 'after_kill', count }, async (url) => {
    const asked = { url, agents: QUEUED_AGENTS, timeoutMs: TIMEOUT_MS }
    await killed(bench.ask('killWorking', asked, FILE))
    return bench.ask('startAgain', asked, FILE)
  })
  return { facts: { count, timeoutMs: TIMEOUT_MS, ...fact }, rows: [rowOf(count, fact)], notes: NOTES }
}

/** Any exit other than SIGKILL is a failure. */
async function killed(working) {
  const error = await working.then(
    () => new Error('the node ended by itself'),
    (reason) => reason,
  )
  if (!error.message.endsWith('ended with SIGKILL')) throw error
}

const shown = (ms) => (ms === null ? `not within ${TIMEOUT_MS / 1_000} s` : thousands(ms))

const rowOf = (count, fact) => ({
  queued: thousands(count),
  'start(), ms': round(fact.startMs),
  'first run after, ms': shown(fact.firstMs),
  '100 runs after, ms': shown(fact.slotsMs),
  'node RSS, MiB': round(fact.rssMiB),
  'at its highest, MiB': round(fact.peakRssMiB),
})

const NOTES = [
  'The killed node has 100 runs in flight, which are not recovered yet when the next one starts. Times are measured from the call of start(), without loading the program.',
]
