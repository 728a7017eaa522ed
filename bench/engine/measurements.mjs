// What happens inside the process of a contestant. Each function gets the contestant's module by its path, so that this
// process loads nothing else.
import { pathToFileURL } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startProfile } from './profile.mjs'
import { cpuSecondsOf } from './server.mjs'
import { quantile } from './statistics.mjs'
import { cpuSeconds, inFlight, makeJob, until } from './world.mjs'

const load = (file) => import(pathToFileURL(file).href)

/** Makes the contestant's schema and fills its queue. */
export async function fill({ contestant, url, count }) {
  const { prepare, open } = await load(contestant)
  await prepare(url)
  const queue = await open(url, {})
  if (queue.submitMany === undefined) await inFlight(count, 1_000, (index) => queue.submit(makeJob(index)))
  else
    for (let from = 0; from < count; from += queue.batchSize) {
      const size = Math.min(queue.batchSize, count - from)
      await queue.submitMany(Array.from({ length: size }, (_, i) => makeJob(from + i)))
    }
  await queue.close()
}

/** Works off a full queue. The clock runs from the first start of a handler to the commit of the last completion. */
export async function drain({ contestant, url, count, server, profile }) {
  const { open, LEFT } = await load(contestant)
  const observer = new pg.Client({ connectionString: url })
  await observer.connect()
  let started = 0
  let first = 0
  let used = { node: 0, server: null }
  const spent = () => ({ node: cpuSeconds(), server: cpuSecondsOf(server) })
  let stopProfile
  let reached
  const all = new Promise((resolve) => {
    reached = resolve
  })
  const handle = () => {
    if (started === 0) {
      first = performance.now()
      used = spent()
      if (profile !== undefined) stopProfile = startProfile(profile)
    }
    started += 1
    if (started === count) reached()
  }
  const queue = await open(url, { handle })
  const asked = performance.now()
  await queue.start()
  await Promise.race([all, sleep(600_000).then(() => Promise.reject(new Error(`only ${started} of ${count} started`)))])
  await until(async () => (await observer.query(LEFT)).rows[0].left === 0, { what: 'the last completion' })
  const seconds = (performance.now() - first) / 1000
  const now = spent()
  await stopProfile?.()
  await observer.end()
  const checked = await queue.check?.(1_000)
  await queue.close()
  return {
    perSecond: count / seconds,
    // From the order to begin, which also contains connecting and looking for work.
    perSecondFromStart: count / (seconds + (first - asked) / 1000),
    nodeMicros: ((now.node - used.node) / count) * 1e6,
    serverMicros: now.server === null ? null : ((now.server - used.server) / count) * 1e6,
    ...(checked === undefined ? {} : { checked }),
  }
}

/** How fast jobs are accepted: by one caller, by 32 that each wait for their answer, and in batches. */
export async function submission({ contestant, url, seconds }) {
  const { prepare, open } = await load(contestant)
  await prepare(url)
  const queue = await open(url, {})
  let index = 0
  const one = () => queue.submit(makeJob(index++))
  const result = {
    one: await rate(seconds, 1, async () => (await one(), 1)),
    inFlight: await rate(seconds, 32, async () => (await one(), 1)),
  }
  if (queue.submitMany !== undefined) {
    const batch = () => Array.from({ length: queue.batchSize }, () => makeJob(index++))
    result.batchSize = queue.batchSize
    result.batches = await rate(seconds, 1, async () => (await queue.submitMany(batch()), queue.batchSize))
  }
  await queue.close()
  return result
}

/** Accepted per second by so many callers, after half a second that does not count. */
async function rate(seconds, callers, submit) {
  let accepted = 0
  let stopped = false
  const caller = async () => {
    while (!stopped) {
      const count = await submit()
      // Not `+= await`: that would add to what was there before the wait.
      accepted += count
    }
  }
  const calling = Promise.all(Array.from({ length: callers }, caller))
  await Promise.race([sleep(500), calling])
  accepted = 0
  const began = performance.now()
  await Promise.race([sleep(seconds * 1_000), calling])
  const perSecond = accepted / ((performance.now() - began) / 1000)
  stopped = true
  await calling
  return perSecond
}

/** From the call that submits to the start of the handler, one at a time, with a pause in between. */
export async function latency({ contestant, url, rounds }) {
  const { prepare, open } = await load(contestant)
  await prepare(url)
  let begun = 0
  let heard
  const times = []
  const handle = () => {
    times.push(performance.now() - begun)
    heard()
  }
  const queue = await open(url, { handle, tuned: 'few' })
  await queue.start()
  await sleep(500)
  const warmUp = Math.min(50, rounds)
  for (let i = 0; i < rounds + warmUp; i += 1) {
    const start = new Promise((resolve) => {
      heard = resolve
    })
    begun = performance.now()
    await Promise.all([queue.submit(makeJob(i)), start])
    await sleep(5 + Math.random() * 10)
  }
  await queue.close()
  return times.slice(warmUp)
}

/** Many schedules with the same moment: how late the last of them starts. */
export async function schedules({ contestant, url, count, timeoutMs, ...rest }) {
  const { prepare, dueTogether } = await load(contestant)
  await prepare(url)
  const starts = []
  const planned = await dueTogether(url, { count, handle: () => starts.push(Date.now()), ...rest })
  const end = planned.due + timeoutMs
  await until(() => starts.length >= count || Date.now() > end, { everyMs: 20, timeoutMs: timeoutMs + 200_000 })
  await planned.close()
  const late = starts.map((at) => at - planned.due)
  return {
    started: starts.length,
    first: Math.min(...late),
    p50: quantile(late, 0.5),
    last: Math.max(...late),
    complete: starts.length >= count,
  }
}
