// Submit and run at full speed with a free horizon, then with a transaction that pins it.
import { round, thousands } from '../statistics.mjs'

export const title = 'Submit and run at full speed while a transaction pins the horizon, completed per second'
export const minutes = { full: 12.6, quick: 0.6 }

/** In seconds. Escapement has the ten minutes of the goal; the decay of the others shows sooner. */
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
  'A transaction of isolation level repeatable read has looked once and stays open: nothing that dies after that can be cleared away. Both phases follow each other in one database, so the pinned one also has the longer history.',
  'Escapement is sent every message by a call of its own; the peers are given batches of 1,000, or their submission would be measured. Compare a row with itself.',
]
