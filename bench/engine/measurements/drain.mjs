// In the process of a contestant: fills a queue, and drains it in another process.
import { setTimeout as sleep } from 'node:timers/promises'
import { startProfile } from '../profile.mjs'
import { cpuSecondsOf } from '../server.mjs'
import { cpuSeconds, makeLargeJob, until } from '../world.mjs'
import { load } from './opening.mjs'

const LONGEST_MS = 600_000

/** Creates the contestant's schema and fills its queue; `bytes` is the size of the texts. */
export async function fill({ contestant, url, count, bytes = 0 }) {
  const { prepare, open } = await load(contestant)
  await prepare(url)
  const queue = await open(url, {})
  for (let from = 0; from < count; from += queue.batchSize) {
    const size = Math.min(queue.batchSize, count - from)
    await queue.submitMany(Array.from({ length: size }, (_, i) => makeLargeJob(from + i, bytes)))
  }
  await queue.close()
}

/** Drains a full queue. Timed from the first start of a handler to the commit of the last completion. */
export async function drain({ contestant, url, count, server, profile }) {
  const { open, observe } = await load(contestant)
  const observer = await observe(url)
  const counter = createCounter({ count, server, profile })
  const queue = await open(url, { handle: counter.handle })
  const asked = performance.now()
  await queue.start()
  await Promise.race([counter.all, tooLate(counter, count)])
  await until(async () => (await observer.left()) === 0, { what: 'the last completion' })
  const { first, used } = counter.began()
  const seconds = (performance.now() - first) / 1000
  const now = spentBy(server)
  await counter.stopProfile()
  const counts = await observer.counts()
  await observer.close()
  const checked = await queue.check?.(1_000)
  await queue.close()
  return {
    perSecond: count / seconds,
    // From the call of start, which includes connecting and looking for work.
    perSecondFromStart: count / (seconds + (first - asked) / 1000),
    nodeMicros: ((now.node - used.node) / count) * 1e6,
    serverMicros: now.server === null ? null : ((now.server - used.server) / count) * 1e6,
    counts,
    ...(checked === undefined ? {} : { checked }),
  }
}

const spentBy = (server) => ({ node: cpuSeconds(), server: cpuSecondsOf(server) })

async function tooLate(counter, count) {
  await sleep(LONGEST_MS, undefined, { ref: false })
  throw new Error(`only ${counter.started()} of ${count} started within ${LONGEST_MS / 1000} s`)
}

/** A handler that only counts calls, and stores the times of the first and the last. */
function createCounter({ count, server, profile }) {
  let started = 0
  let first = 0
  let used = { node: 0, server: null }
  let stopProfile
  let reached
  const all = new Promise((resolve) => {
    reached = resolve
  })
  return {
    all,
    started: () => started,
    began: () => ({ first, used }),
    stopProfile: async () => stopProfile?.(),
    handle: () => {
      if (started === 0) {
        first = performance.now()
        used = spentBy(server)
        if (profile !== undefined) stopProfile = startProfile(profile)
      }
      started += 1
      if (started === count) reached()
    },
  }
}
