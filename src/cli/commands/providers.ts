import type { Command } from 'commander'
import { providerInput, providerPatch, type ProviderView } from '../../features/providers/schema.ts'
import { agoText, momentText } from '../output/times.ts'
import type { Desk } from '../remote/talk.ts'
import { addResource } from '../resource.ts'

/** `escapement providers …`: what several agents call, with quotas they share. */
export function addProviders(group: Command, desk: Desk): void {
  addResource<ProviderView>(group, desk, {
    one: 'a provider',
    key: 'name',
    input: providerInput,
    patch: providerPatch,
    operations: ({ providers }) => providers,
    flags: { requests_per_minute: '--requests <n>', tokens_per_minute: '--tokens <n>' },
    about: { delete: 'delete a provider that no agent uses' },
    columns: ({ now }) => [
      { title: 'NAME', of: ({ name }) => name, flexible: true },
      { title: 'REQUESTS', of: (one) => leftText(one.requests_left, one.requests_per_minute), right: true },
      { title: 'TOKENS', of: (one) => leftText(one.tokens_left, one.tokens_per_minute), right: true },
      { title: 'IN FLIGHT', of: inFlightText, right: true },
      { title: 'WAITING', of: ({ waiting }) => String(waiting), right: true },
      { title: 'OPENS', of: ({ closed }) => (closed === null ? 'open' : agoText(closed.until, now)) },
    ],
    facts: ({ now }, provider) => [
      ['name', provider.name],
      ['requests a minute', quotaText(provider.requests_left, provider.requests_per_minute)],
      ['tokens a minute', quotaText(provider.tokens_left, provider.tokens_per_minute)],
      ['at a time', provider.max_concurrent === null ? 'any number' : String(provider.max_concurrent)],
      ['in flight', String(provider.in_flight)],
      ['waiting', String(provider.waiting)],
      ['closed until', closedText(provider.closed, (until) => momentText(until, now))],
      ['agents', provider.agents.length === 0 ? 'none' : provider.agents.join(', ')],
    ],
  })
}

/** What is left of a quota; a dash where there is none. */
const leftText = (left: number | null, of: number | null): string => (of === null ? '-' : `${left ?? of}/${of}`)

const quotaText = (left: number | null, of: number | null): string =>
  of === null ? 'any number' : `${left ?? of} of ${of} left`

const inFlightText = ({ in_flight: count, max_concurrent: max }: ProviderView): string =>
  max === null ? String(count) : `${count}/${max}`

const closedText = (closed: ProviderView['closed'], say: (until: string) => string | null): string | null =>
  closed === null ? null : `${say(closed.until) ?? ''} (${closed.quota})`
