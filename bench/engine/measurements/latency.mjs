// In the process of a contestant: the time from submission to the start of the handler.
import { setTimeout as sleep } from 'node:timers/promises'
import { makeJob, until } from '../world.mjs'
import { countsOf, load } from './opening.mjs'

const SUBMITTERS = 64
/** Maximum number of jobs in flight while the maximum throughput is measured. */
const MOST_OUTSTANDING = 2_000
const TICK_MS = 5
const HALF = 0.5

/** Ten agents with five sessions each: all are known after the warm-up, as in a program that has run for a while. */
const familiar = (index) => ({ ...makeJob(index), agent: `a${index % 10}`, session: `s${index % 50}` })

/** Latency in milliseconds of one job at a time, with pauses and no other load. */
export async function idle({ contestant, url, rounds }) {
  const module = await load(contestant)
  await module.prepare(url)
  const times = []
  let begun = 0
  let heard
  const handle = () => {
    times.push(performance.now() - begun)
    heard()
  }
  const queue = await module.open(url, { handle, tuned: 'few' })
  await queue.start()
  await sleep(500)
  const warmUp = Math.min(50, rounds)
  for (let i = 0; i < rounds + warmUp; i += 1) {
    const start = new Promise((resolve) => {
      heard = resolve
    })
    begun = performance.now()
    await Promise.all([queue.submit(familiar(i)), start])
    await sleep(5 + Math.random() * 10)
  }
  await settled(module, url)
  await queue.close()
  return { times: times.slice(warmUp), submitted: rounds + warmUp, counts: await countsOf(module, url) }
}

/**
 * Latency of all jobs while they are submitted steadily at half of the maximum throughput, without waiting for earlier
 * responses. The maximum throughput is measured first, by callers that wait for responses.
 */
export async function hot({ contestant, url, seconds, least }) {
  const module = await load(contestant)
  await module.prepare(url)
  const world = { begun: new Map(), times: [], handled: 0, submitted: 0, counting: false }
  const handle = (n) => {
    world.handled += 1
    if (world.counting) world.times.push(performance.now() - world.begun.get(n))
    world.begun.delete(n)
  }
  const queue = await module.open(url, { handle, tuned: 'many' })
  await queue.start()
  const submit = () => {
    const job = makeJob(world.submitted)
    world.submitted += 1
    world.begun.set(job.n, performance.now())
    return queue.submit(job)
  }
  const most = await mostPerSecond(world, submit, { seconds, least })
  const offered = most * HALF
  await steadily({ perSecond: offered, seconds: 0.5 }, submit)
  world.counting = true
  await steadily({ perSecond: offered, seconds }, submit)
  await until(() => world.handled === world.submitted, { what: `${world.submitted} starts` })
  await settled(module, url)
  await queue.close()
  const { times, submitted } = world
  return { times, most, offered, submitted, counts: await countsOf(module, url) }
}

/**
 * Jobs handled per second with this many callers, each waiting for one response at a time. Measured over a minimum number of
 * jobs, because contestants with large batches would otherwise be measured between two batches.
 */
async function mostPerSecond(world, submit, { seconds, least }) {
  let stopped = false
  const caller = async () => {
    while (!stopped) {
      if (world.submitted - world.handled > MOST_OUTSTANDING) await sleep(1)
      else await submit()
    }
  }
  const calling = Promise.all(Array.from({ length: SUBMITTERS }, caller))
  await Promise.race([until(() => world.handled > 0, { what: 'the first start' }), calling])
  const [before, began] = [world.handled, performance.now()]
  await Promise.race([sleep(seconds * 1_000), calling])
  await until(() => world.handled - before >= least, { what: `${least} starts` })
  const perSecond = (world.handled - before) / ((performance.now() - began) / 1000)
  stopped = true
  await calling
  await until(() => world.handled === world.submitted, { what: `${world.submitted} starts` })
  return perSecond
}

/** Submits at a steady rate, a few per timer tick; resolves when all were accepted. */
async function steadily({ perSecond, seconds }, submit) {
  const accepted = []
  const began = performance.now()
  for (let due = 0; due < perSecond * seconds; await sleep(TICK_MS)) {
    due = Math.min((performance.now() - began) / 1000, seconds) * perSecond
    while (accepted.length < Math.floor(due)) accepted.push(submit())
  }
  await Promise.all(accepted)
}

/** The handler has ended, but its completion may still be under way. */
async function settled(module, url) {
  const observer = await module.observe(url)
  await until(async () => (await observer.left()) === 0, { everyMs: 20, what: 'the last completion' })
  await observer.close()
}
