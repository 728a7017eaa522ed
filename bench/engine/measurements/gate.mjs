// Handlers that wait until they are released.
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../world.mjs'

/** Releases a given number of handlers, and detects when all are waiting. */
export function createGate() {
  let waiting = []
  let allowed = 0
  let started = 0
  return {
    handler: () => {
      started += 1
      if (allowed > 0) {
        allowed -= 1
        return undefined
      }
      return new Promise((resolve) => {
        waiting.push(resolve)
      })
    },
    atRest: (slots) => until(() => waiting.length >= slots, { what: `${slots} runs in flight` }),
    /** Ends `count` runs and starts as many; afterwards `slots` are waiting again. */
    pass: async (count, slots) => {
      const target = started + count
      // Release the waiting handlers first; of those that start then, all but the last `slots` pass.
      const leaving = waiting.slice(0, count)
      waiting = waiting.slice(leaving.length)
      allowed = count - leaving.length
      for (const leave of leaving) leave()
      await until(() => started >= target && waiting.length >= slots, { what: `${count} runs` })
      // The last run is still being settled when the last handler starts.
      await sleep(200)
    },
    open: () => {
      allowed = Infinity
      for (const leave of waiting) leave()
      waiting = []
    },
  }
}
