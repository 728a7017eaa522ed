// Submits and executes at full speed, first without and then with a transaction that pins the horizon.
import { round, thousands } from '../statistics.mjs'

export const title = 'Submit and run at full speed while a transaction pins the horizon, completed per second'
export const minutes = { full: 12.6, quick: 0.6 }

/** In seconds. Escapement runs for the ten minutes of the goal; the decay of the others is visible earlier. */
const OWN = { full: { free: 30, pinned: 600 }, quick: { free: 10, pinned: 15 } }
const PEER = { free: 10, pinned: 30 }
const PEERS = ['raw-sql', 'pg-boss', 'graphile-worker']

export async function measure(bench) {
  const all = {}
  for (const contestant of bench.contestants.filter((one) => takesPart(bench, one))) {
    const { name } = contestant
    const seconds = name !== 'escapement' ? PEER : bench.quick ? OWN.quick : OWN.full
    all[name] = { seconds, ...(await once(bench, contestant, seconds)) }
    bench.say(`${name}: ${thousands(all[name].free.mean)}/s free, ${thousands(all[name].pinned.mean)}/s pinned`)
  }
  const { escapement, ...others } = all
  return { facts: { ...escapement, others }, rows: Object.entries(all).map(rowOf), notes: NOTES }
}

const takesPart = ({ quick }, { name }) => name === 'escapement' || (!quick && PEERS.includes(name))

const once = (bench, { name, file, variant }, seconds) =>
  bench.server.withDatabase('pinned', (url) => {
    const asked = { contestant: { name, file, variant }, url, seconds, pid: bench.server.pid }
    return bench.ask('steady', asked, { file: 'pinned.mjs' })
  })

const rowOf = ([name, { seconds, free, pinned }]) => ({
  contestant: name,
  'free/s': thousands(free.mean),
  'pinned/s': thousands(pinned.mean),
  'pinned of free': (pinned.mean / free.mean).toFixed(2),
  'pinned for': `${seconds.pinned} s`,
  'first 15 s': thousands(mean(pinned.windows.slice(0, 3))),
  'last 15 s': thousands(mean(pinned.windows.slice(-3))),
  'server µs free': round(free.serverMicros),
  'server µs pinned': round(pinned.serverMicros),
})

const mean = (values) => values.reduce((sum, one) => sum + one, 0) / values.length

const NOTES = [
  'A transaction with isolation level repeatable read has read once and stays open, so rows that die afterwards can not be removed. Both phases run in one database, so the pinned one also has the longer history.',
  'Escapement gets one call per message; the peers get batches of 1,000, because submission would limit them otherwise. Compare figures within a row only.',
]
