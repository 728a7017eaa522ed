// In the process of a contestant: how fast jobs are accepted while none are executed.
import { setTimeout as sleep } from 'node:timers/promises'
import { makeJob, SESSIONS } from '../world.mjs'
import { countsOf, load } from './opening.mjs'

const WARM_UP_MS = 300

/** Accepted jobs per second: from one caller, from 32 callers that wait for responses, and in batches. */
export async function submission({ contestant, url, seconds }) {
  const module = await load(contestant)
  await module.prepare(url)
  const queue = await module.open(url, {})
  let made = 0
  const next = () => makeJob(made++)
  const one = async () => {
    await queue.submit(next())
    return 1
  }
  const batch = async () => {
    await queue.submitMany(Array.from({ length: queue.batchSize }, next))
    return queue.batchSize
  }
  // Use every session once before, so that creating sessions is not measured.
  while (made < SESSIONS) await batch()
  const result = {
    one: await rate(seconds, 1, one),
    inFlight: await rate(seconds, 32, one),
    batches: await rate(seconds, 1, batch),
  }
  await queue.close()
  return { ...result, batchSize: queue.batchSize, submitted: made, counts: await countsOf(module, url) }
}

/** Accepted jobs per second from this many callers, after a warm-up. */
async function rate(seconds, callers, submit) {
  let accepted = 0
  let stopped = false
  const caller = async () => {
    while (!stopped) {
      const count = await submit()
      // Not `+= await`, which would add to the value from before the wait.
      accepted += count
    }
  }
  const calling = Promise.all(Array.from({ length: callers }, caller))
  await Promise.race([sleep(WARM_UP_MS), calling])
  accepted = 0
  const began = performance.now()
  await Promise.race([sleep(seconds * 1_000), calling])
  // On a busy machine, there may have been no response at all: then there is no rate.
  while (accepted === 0) await Promise.race([sleep(5), calling])
  const perSecond = accepted / ((performance.now() - began) / 1000)
  stopped = true
  await calling
  return perSecond
}
