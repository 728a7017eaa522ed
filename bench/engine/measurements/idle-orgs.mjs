// A node with many idle orgs. Each function runs in a separate process.
import { setTimeout as sleep } from 'node:timers/promises'
import { create, sessionOf } from '../escapement.mjs'
import { cpuSecondsOf } from '../server.mjs'
import { cpuSeconds, until } from '../world.mjs'

const MESSAGE_MS = 30_000

/** Creates the schema and executes some runs of the org `default`, for seeding to multiply. */
export async function prepareOrg({ url }) {
  const escapement = create(url, { agents: { a0: () => undefined } })
  await escapement.start()
  await escapement.sessions.ask(sessionOf({ agent: 'a0', session: 'seed' }), 'go')
  await escapement.stop()
}

/**
 * Starts a node, sends one message as soon as it is ready, and then measures the cost of idling. Returns null for a start that
 * doesn't happen in time. The node is not stopped, because an overloaded node would delay the benchmark.
 */
export async function amongIdle({ url, pid, seconds, settleSeconds, timeoutMs }) {
  let claimed = null
  const escapement = create(url, { agents: { a0: () => void (claimed ??= performance.now()) } })
  const began = performance.now()
  await escapement.start()
  await until(() => escapement.health().ready, { timeoutMs, what: 'a node that is ready' })
  const ready = performance.now()
  const send = () => escapement.sessions.send(sessionOf({ agent: 'a0', session: 'first' }), 'go')
  // An overloaded node refuses; a client would try again.
  const sending = sendUntilAccepted(send, ready + timeoutMs)
  await until(() => claimed !== null, { timeoutMs, what: 'the first start' }).catch(() => undefined)
  const claimMs = claimed === null ? null : claimed - ready
  await Promise.race([sending, sleep(MESSAGE_MS)])
  await sleep(settleSeconds * 1_000)
  const [node, server, from] = [cpuSeconds(), cpuSecondsOf(pid), performance.now()]
  await sleep(seconds * 1_000)
  const passed = (performance.now() - from) / 1_000
  return {
    ...{ readyMs: ready - began, claimMs },
    nodeCpuPercent: ((cpuSeconds() - node) / passed) * 100,
    serverCpuPercent: server === null ? null : ((cpuSecondsOf(pid) - server) / passed) * 100,
    rssMiB: process.memoryUsage().rss / 2 ** 20,
  }
}

async function sendUntilAccepted(send, end) {
  while (performance.now() < end)
    try {
      return await send()
    } catch {
      await sleep(200)
    }
}
