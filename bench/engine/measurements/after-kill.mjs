// A node that is killed while it works, and the next node. Each function runs in a separate process.
import { agentsOf, create } from '../escapement.mjs'
import { until } from '../world.mjs'

const SLOTS = 100

const never = () =>
  new Promise(() => {
    // Runs forever.
  })

/** Works until every slot is taken, then kills itself, so that it can't shut down properly. */
export async function killWorking({ url, agents, timeoutMs }) {
  let started = 0
  const handler = () => {
    started += 1
    return never()
  }
  const escapement = create(url, { agents: agentsOf(handler, agents), lanes: { main: SLOTS } })
  await escapement.start()
  // If the queue is too long for this node, it is killed too: the next node is what is measured.
  await until(() => started >= SLOTS, { timeoutMs, what: `${SLOTS} runs in flight` }).catch(() => undefined)
  process.kill(process.pid, 'SIGKILL')
  await never()
}

/** Starts on the existing queue. Returns milliseconds from the call of start(), and memory when every slot is taken. */
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
