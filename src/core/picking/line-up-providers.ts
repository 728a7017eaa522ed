import type { ProviderName } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { hold, list } from './line-up-lines.ts'
import type { Agent, Line, Places, Provider } from './line-up-places.ts'
import { isProviderClosed, isProviderFull, type ProviderLoad } from './provider-gate.ts'

/**
 * Providers in the line-up. A provider that lets nothing through is found out once per line of work that asks for it;
 * that line leaves its lane and comes back when the provider opens, so that what waits for it costs nothing meanwhile.
 */

/** Nothing is known of its quotas: it lets everything through. */
const openLoad = (name: ProviderName): ProviderLoad => ({
  name,
  until: null,
  quota: 'requests_per_minute',
  limit: null,
})

function providerOf(places: Places, name: ProviderName): Provider {
  const known = places.providers.get(name)
  if (known !== undefined) return known
  const agents = new Set<Agent>()
  const provider: Provider = {
    ...{ load: openLoad(name), inFlight: 0, agents, held: new Set() },
    get waiting() {
      let waiting = 0
      for (const agent of agents) waiting += agent.queued.size
      return waiting
    },
  }
  places.providers.set(name, provider)
  return provider
}

/** Which provider the agent calls from now on; null: none. What it has in flight counts there. */
export function assignProvider(places: Places, agent: Agent, name: ProviderName | null): void {
  const before = agent.provider
  if ((before?.load.name ?? null) === name) return
  if (before !== null) {
    before.inFlight -= agent.load.inFlight
    before.agents.delete(agent)
    for (const line of before.held) if (line.share.agent === agent) letGo(before, line)
  }
  agent.provider = name === null ? null : providerOf(places, name)
  if (agent.provider === null) return
  agent.provider.inFlight += agent.load.inFlight
  agent.provider.agents.add(agent)
}

/** Takes in which providers there are. Each load is looked at from then on, and not copied. */
export function setProviders(places: Places, loads: ReadonlyMap<ProviderName, ProviderLoad>): void {
  for (const [name, load] of loads) providerOf(places, name).load = load
  for (const [name, provider] of places.providers) {
    if (loads.has(name)) continue
    provider.load = openLoad(name)
    if (provider.agents.size === 0) places.providers.delete(name)
  }
}

/** The provider of the line's agent lets nothing through: the line stays out until it does. */
export function holdForProvider(line: Line): void {
  const { provider } = line.share.agent
  if (provider !== null) hold(line, provider.held)
}

/** Lets the work of every provider compete again that lets something through now. */
export function reviewProviders(places: Places, now: Instant): void {
  for (const provider of places.providers.values()) {
    if (provider.held.size === 0 || isProviderClosed(provider, now)) continue
    for (const line of provider.held) letGo(provider, line)
  }
}

function letGo(provider: Provider, line: Line): void {
  provider.held.delete(line)
  line.isHeld = false
  list(line)
}

/** The first moment at which a provider that holds work up opens by itself. */
export function providerOpensAt(places: Places): Instant | null {
  let first: Instant | null = null
  for (const provider of places.providers.values()) {
    const { until } = provider.load
    // Where too many are in flight nothing opens by itself: the end of one of them does.
    if (provider.held.size === 0 || until === null || isProviderFull(provider)) continue
    if (first === null || until < first) first = until
  }
  return first
}
