// Inside the process of a contestant: how fast jobs are accepted, while nobody works them off.
import { setTimeout as sleep } from 'node:timers/promises'
import { makeJob, SESSIONS } from '../world.mjs'
import { countsOf, load } from './opening.mjs'

const WARM_UP_MS = 300

/** Accepted per second: by one caller, by 32 that each wait for their answer, and in batches. */
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
  // Every session has spoken once: what is measured is a program at work, not the first message of ten thousand people.
  while (made < SESSIONS) await batch()
  const result = {
    one: await rate(seconds, 1, one),
    inFlight: await rate(seconds, 32, one),
    batches: await rate(seconds, 1, batch),
  }
  await queue.close()
  return { ...result, batchSize: queue.batchSize, submitted: made, counts: await countsOf(module, url) }
}

/** Accepted per second by so many callers, after a while that does not count. */
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
  await Promise.race([sleep(WARM_UP_MS), calling])
  accepted = 0
  const began = performance.now()
  await Promise.race([sleep(seconds * 1_000), calling])
  // A machine that is busy with other things may not have answered once: none is no rate.
  while (accepted === 0) await Promise.race([sleep(5), calling])
  const perSecond = accepted / ((performance.now() - began) / 1000)
  stopped = true
  await calling
  return perSecond
}
