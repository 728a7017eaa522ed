// A node that drains pending runs and records times. Runs in a separate process.
import { setTimeout as sleep } from 'node:timers/promises'
import { agentsOf, create } from '../escapement.mjs'
import { BUCKET_MS } from '../parts/joining/throughput.mjs'
import { PENDING_COUNT, withClient } from '../seeding.mjs'

/**
 * Starts as soon as at most `startAt` runs are pending, so that loading the program is not measured, and works until nothing
 * is pending. Returns when it was started and first called a handler, the number of calls in each bucket of time, and its
 * pauses: times between two calls that were longer than a bucket.
 */
export async function work({ url, agents, startAt }) {
  const buckets = {}
  const pauses = []
  let first = null
  let last = null
  const handler = () => {
    const at = Date.now()
    first ??= at
    if (last !== null && at - last > BUCKET_MS) pauses.push({ from: last, to: at })
    last = at
    const bucket = Math.floor(at / BUCKET_MS)
    buckets[bucket] = (buckets[bucket] ?? 0) + 1
  }
  const escapement = create(url, { agents: agentsOf(handler, agents), lanes: { main: 500 } })
  await untilPending(url, startAt)
  const began = Date.now()
  await escapement.start()
  await untilPending(url, 0)
  await escapement.stop()
  return { began, first, last, buckets, pauses, handled: Object.values(buckets).reduce((sum, one) => sum + one, 0) }
}

/** Waits until at most this many runs are pending. */
const untilPending = (url, count) =>
  withClient(url, async (client) => {
    const left = `select ${PENDING_COUNT} > ${count} as is`
    while ((await client.query(left)).rows[0].is) await sleep(100)
  })
