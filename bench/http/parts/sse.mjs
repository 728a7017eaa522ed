// Messages without and with many event stream clients, in interleaved pairs on one server.
import { fork } from 'node:child_process'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { median, round, thousands } from '../../engine/statistics.mjs'
import { withServed } from '../served.mjs'
import { hammered } from './messages.mjs'

const LISTENERS = path.join(path.dirname(fileURLToPath(import.meta.url)), '../listeners.mjs')
const PAIRS = 5
const CLIENTS = 200
const SETTLE_MS = 1_500

/** Clients that wait for events that don't occur, as most clients do; and clients that listen to everything. */
const LISTENING = { waiting: '?kinds=schedule.changed', everything: '' }

export const title = `Messages with 0 and with ${CLIENTS} clients of GET /api/v1/events`

export const measure = (bench) =>
  withServed({ nodeArgs: bench.profileArgs('http-sse') }, async (served) => {
    const count = bench.quick ? 4_000 : 30_000
    await hammered(bench, served, { kind: 'messages', count: 3 * count })
    const facts = {}
    for (const [name, query] of Object.entries(LISTENING)) {
      bench.say(`clients that receive ${name === 'waiting' ? 'no events' : 'all events'}`)
      facts[name] = factsOf(await pairsOf(bench, served, { query, count }))
    }
    return { clients: CLIENTS, facts, rows: Object.entries(facts).flatMap(([name, { pairs }]) => rowsOf(name, pairs)) }
  })

async function pairsOf(bench, served, { query, count }) {
  const pairs = []
  for (let i = 0; i < PAIRS; i += 1) {
    // Alternate the order from pair to pair.
    const order = i % 2 === 0 ? [0, CLIENTS] : [CLIENTS, 0]
    const pair = {}
    for (const clients of order) pair[clients] = await withListeners(bench, served, { clients, count, query })
    pairs.push({ without: pair[0], with: pair[CLIENTS] })
    bench.say(
      `pair ${i + 1}: ${thousands(pair[0].perSecond)}/s and ${thousands(pair[CLIENTS].perSecond)}/s, ` +
        `node ${thousands(pair[0].nodeUs)} µs and ${thousands(pair[CLIENTS].nodeUs)} µs, ` +
        `${thousands(pair[CLIENTS].heard)} events received`,
    )
  }
  return pairs
}

async function withListeners(bench, served, { clients, count, query }) {
  const stop = clients === 0 ? undefined : await listen(served, clients, query)
  // Wait until new clients have caught up, because only connected clients are measured.
  await sleep(SETTLE_MS)
  const figures = await hammered(bench, served, { kind: 'messages', count })
  const heard = (await stop?.()) ?? 0
  return { ...figures, heard }
}

/** Connects the clients from a separate process. */
function listen({ url, key }, count, query) {
  const child = fork(LISTENERS, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const next = () =>
    new Promise((resolve, reject) => {
      child.once('message', resolve)
      child.once('exit', () => reject(new Error('the clients of events ended')))
    })
  child.send({ url, key, count, query })
  return next().then(() => async () => {
    const answered = next()
    child.send('stop')
    return (await answered).heard
  })
}

function factsOf(pairs) {
  const ratios = pairs.map((pair) => pair.with.nodeUs / pair.without.nodeUs)
  const without = pairs.map((pair) => pair.without.nodeUs)
  // The spread between rounds that should be equal.
  const noise = (Math.max(...without) - Math.min(...without)) / median(without)
  return { pairs, difference: round(median(ratios), 3), noise: round(noise, 3) }
}

const rowsOf = (listening, pairs) =>
  pairs.map((pair, index) => ({
    ...{ listening, pair: index + 1 },
    'per second': thousands(pair.without.perSecond),
    'with clients': thousands(pair.with.perSecond),
    'p99 ms': round(pair.without.p99, 1),
    'p99 ms with': round(pair.with.p99, 1),
    'node µs': round(pair.without.nodeUs, 1),
    'node µs with': round(pair.with.nodeUs, 1),
    ratio: round(pair.with.nodeUs / pair.without.nodeUs, 3),
  }))
