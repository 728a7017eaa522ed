// How fast runs are accepted, and how soon one starts on an idle system.
import { setTimeout as sleep } from 'node:timers/promises'
import { oneTurn, prepare, serverSeconds } from './measure.mjs'
import { makeRun, underLock } from './world.mjs'

/** 32 callers, each waiting for its own answer; whatever arrived while the last commit was under way is the next group. */
export async function submission(server, shape, { callers = 32, seconds = 5 }) {
  const client = await prepare(server, shape)
  const state = shape.newState()
  let waiting = []
  let index = 0
  let accepted = 0
  let stopped = false
  const commit = async () => {
    while (!stopped) {
      const group = waiting
      waiting = []
      if (group.length === 0) await new Promise(setImmediate)
      else {
        await underLock(client, () =>
          shape.submit(
            client,
            state,
            group.map(({ run }) => run),
          ),
        )
        for (const { resolve } of group) resolve()
      }
    }
    for (const { resolve } of waiting) resolve()
  }
  const caller = async () => {
    while (!stopped) {
      await new Promise((resolve) => {
        waiting.push({ run: makeRun(index++), resolve })
      })
      accepted += 1
    }
  }
  const committing = commit()
  const calling = Promise.all(Array.from({ length: callers }, caller))
  await sleep(500)
  accepted = 0
  const used = await serverSeconds(client)
  const started = performance.now()
  await sleep(seconds * 1_000)
  const perSecond = Math.round(accepted / ((performance.now() - started) / 1000))
  const cpu = ((await serverSeconds(client)) - used) / accepted
  stopped = true
  await committing
  await calling
  await client.end()
  return { perSecond, cpu: Math.round(cpu * 1e6) }
}

/** Submit → claimed, one at a time, on an idle system: in two transactions, and in one. */
export async function latency(server, shape, { rounds = 400 } = {}) {
  const client = await prepare(server, shape)
  const state = shape.newState()
  const times = { two: [], one: [] }
  let finished = []
  for (let i = 0; i < 2 * rounds; i += 1) {
    const run = makeRun(i)
    const kind = i % 2 === 0 ? 'two' : 'one'
    const started = performance.now()
    if (kind === 'two') {
      await underLock(client, () => shape.submit(client, state, [run]))
      finished = await oneTurn(client, shape, { state, finished, slots: 30 })
    } else
      finished = (
        await underLock(client, async () => {
          await shape.submit(client, state, [run])
          return shape.turn(client, state, { finished, slots: 30, now: new Date() })
        })
      ).map((row) => row.id)
    if (finished[0] !== run.id) throw new Error('another run started')
    if (i > 20) times[kind].push(performance.now() - started)
  }
  await client.end()
  return Object.fromEntries(Object.entries(times).map(([kind, all]) => [kind, quantiles(all)]))
}

function quantiles(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share) => Number(sorted[Math.floor(sorted.length * share)].toFixed(2))
  return { p50: at(0.5), p99: at(0.99) }
}
