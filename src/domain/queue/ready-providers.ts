import type { ProviderName } from '../ids.ts'
import type { Instant } from '../instant.ts'
import { holdQueue, listQueue } from './ready-lines.ts'
import type { Agent, AgentQueue, QueueState, Provider } from './queued-run.ts'
import { isProviderClosed, isProviderFull, type ProviderLoad } from './gates.ts'

/**
 * Providers in the ready queue. A closed provider is detected once per line; the line leaves its lane and returns
 * when the provider opens, so that waiting runs cost nothing meanwhile.
 */

/** The load of a provider without known quotas, which is always open. */
const openLoad = (name: ProviderName): ProviderLoad => ({
  name,
  until: null,
  quota: 'requests_per_minute',
  limit: null,
})

function getOrCreateProvider(state: QueueState, name: ProviderName): Provider {
  const known = state.providers.get(name)
  if (known !== undefined) return known
  const agents = new Set<Agent>()
  const provider: Provider = {
    ...{ load: openLoad(name), inFlight: 0, agents, heldQueues: new Set() },
    get waiting() {
      let waiting = 0
      for (const agent of agents) waiting += agent.queued.size
      return waiting
    },
  }
  state.providers.set(name, provider)
  return provider
}

/** Sets the provider that the agent calls; null: none. The agent's runs in flight move to its count. */
export function assignProvider(state: QueueState, agent: Agent, name: ProviderName | null): void {
  const before = agent.provider
  if ((before?.load.name ?? null) === name) return
  if (before !== null) {
    before.inFlight -= agent.load.inFlight
    before.agents.delete(agent)
    for (const queue of before.heldQueues) if (queue.agentInLane.agent === agent) releaseQueue(before, queue)
  }
  agent.provider = name === null ? null : getOrCreateProvider(state, name)
  if (agent.provider === null) return
  agent.provider.inFlight += agent.load.inFlight
  agent.provider.agents.add(agent)
}

/** Replaces the set of providers. Each load object is kept by reference and read from then on. */
export function setProviders(state: QueueState, loads: ReadonlyMap<ProviderName, ProviderLoad>): void {
  for (const [name, load] of loads) getOrCreateProvider(state, name).load = load
  for (const [name, provider] of state.providers) {
    if (loads.has(name)) continue
    provider.load = openLoad(name)
    if (provider.agents.size === 0) state.providers.delete(name)
  }
}

/** Takes a line out of its lane until the provider of its agent opens. */
export function holdForProvider(queue: AgentQueue): void {
  const { provider } = queue.agentInLane.agent
  if (provider !== null) holdQueue(queue, provider.heldQueues)
}

/** Returns the lines of all providers that are open now to their lanes. */
export function reviewProviders(state: QueueState, now: Instant): void {
  for (const provider of state.providers.values()) {
    if (provider.heldQueues.size === 0 || isProviderClosed(provider, now)) continue
    for (const queue of provider.heldQueues) releaseQueue(provider, queue)
  }
}

function releaseQueue(provider: Provider, queue: AgentQueue): void {
  provider.heldQueues.delete(queue)
  queue.isHeld = false
  listQueue(queue)
}

/** The earliest time when a provider that blocks lines opens by itself. */
export function providerOpensAt(state: QueueState): Instant | null {
  let first: Instant | null = null
  for (const provider of state.providers.values()) {
    const { until } = provider.load
    // A provider at its concurrency limit opens when a run ends, not at a time.
    if (provider.heldQueues.size === 0 || until === null || isProviderFull(provider)) continue
    if (first === null || until < first) first = until
  }
  return first
}
