// A node that is killed while it works, and the one that starts after it. Each function runs in a process of its own.
import { agentsOf, create } from '../escapement.mjs'
import { until } from '../world.mjs'

const SLOTS = 100

const never = () =>
  new Promise(() => {
    // It is at work for ever.
  })

/** Works until every slot is taken, and then kills itself: it cannot stop in an orderly way. */
export async function killWorking({ url, agents, timeoutMs }) {
  let started = 0
  const handler = () => {
    started += 1
    return never()
  }
  const escapement = create(url, { agents: agentsOf(handler, agents), lanes: { main: SLOTS } })
  await escapement.start()
  // A queue that is too long for it ends it, too: what the next node makes of it is what is asked.
  await until(() => started >= SLOTS, { timeoutMs, what: `${SLOTS} runs in flight` }).catch(() => undefined)
  process.kill(process.pid, 'SIGKILL')
  await never()
}

/** Starts on what is there. Milliseconds from the call of start(), and memory when every slot is taken. */
export async function startAgain({ url, agents, timeoutMs }) {
  let first = null
  let started = 0
  const handler = () => {
    first ??= performance.now()
    started += 1
    return never()
  }
  const escapement = create(url, { agents: agentsOf(handler, agents), lanes: { main: SLOTS } })
  const began = performance.now()
  await escapement.start()
  const startMs = performance.now() - began
  await until(() => started >= SLOTS, { timeoutMs, what: `${SLOTS} runs in flight` }).catch(() => undefined)
  const slotsMs = started >= SLOTS ? performance.now() - began : null
  return {
    ...{ startMs, firstMs: first === null ? null : first - began, slotsMs },
    rssMiB: process.memoryUsage().rss / 2 ** 20,
    peakRssMiB: process.resourceUsage().maxRSS / 1024,
  }
}
