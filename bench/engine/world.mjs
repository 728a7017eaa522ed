// What all contestants are given: the same jobs.
export const AGENTS = 1_000
export const SESSIONS = 10_000

/** The i-th job. */
export const makeJob = (index) => ({
  n: index,
  agent: `a${index % AGENTS}`,
  session: `s${index % SESSIONS}`,
  text: 'say what changed since yesterday',
})

/** Processor seconds this process has used. */
export function cpuSeconds() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** Asks until the answer is yes. */
export async function until(ask, { everyMs = 5, timeoutMs = 120_000, what = 'the condition' } = {}) {
  const end = performance.now() + timeoutMs
  while (!(await ask())) {
    if (performance.now() > end) throw new Error(`${what} did not come about within ${timeoutMs / 1000} s`)
    await new Promise((resolve) => {
      setTimeout(resolve, everyMs)
    })
  }
}

/** Calls `one(i)` for i from 0 to count − 1, with so many under way at any time. */
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
