// The jobs, which are the same for all contestants.
import { randomBytes } from 'node:crypto'

export const AGENTS = 1_000
export const SESSIONS = 10_000
/** The agents of the mixed load: one with a flood, three with steady traffic, one with little work. */
export const MIXED_AGENTS = ['a0', 'a1', 'a2', 'a3', 'a4']

export const textOf = (index) => `say what changed since yesterday, please, number ${index}`

/** The i-th job. Its text ends with its number, so that handlers that only get the text can identify it. */
export const makeJob = (index) => ({
  n: index,
  agent: `a${index % AGENTS}`,
  session: `s${index % SESSIONS}`,
  text: textOf(index),
})

/** The same job with an incompressible text of the given size in bytes. */
export function makeLargeJob(index, bytes) {
  const job = makeJob(index)
  const missing = Math.max(0, bytes - job.text.length - 1)
  const filling = randomBytes(Math.ceil((missing * 3) / 4)).toString('base64')
  return missing === 0 ? job : { ...job, text: `${filling.slice(0, missing)} ${job.text}` }
}

/** CPU seconds of this process. */
export function cpuSeconds() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** Polls until the condition is true. */
export async function until(ask, { everyMs = 5, timeoutMs = 120_000, what = 'the condition' } = {}) {
  const end = performance.now() + timeoutMs
  while (!(await ask())) {
    if (performance.now() > end) throw new Error(`Timed out after ${timeoutMs / 1000} s while waiting for ${what}`)
    await new Promise((resolve) => {
      setTimeout(resolve, everyMs)
    })
  }
}

/** Calls `one(i)` for i from 0 to count − 1, with a fixed number of calls in flight. */
export async function inFlight(count, width, one) {
  let next = 0
  const caller = async () => {
    while (next < count) {
      const index = next
      next += 1
      await one(index)
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, count) }, caller))
}
