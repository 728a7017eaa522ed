import type { Command } from 'commander'
import { providerInput, providerPatch, type ProviderView } from './schema.ts'
import { relativeTimeText, cliTimeText } from '../../cli/output/times.ts'
import type { CliContext } from '../../cli/remote/call.ts'
import { addResource } from '../../cli/resource.ts'

/** `escapement providers …`: services that several agents call, with shared quotas. */
export function addProviders(group: Command, cli: CliContext): void {
  addResource<ProviderView>(group, cli, {
    singular: 'a provider',
    key: 'name',
    input: providerInput,
    patch: providerPatch,
    operations: ({ providers }) => providers,
    flags: { requests_per_minute: '--requests <n>', tokens_per_minute: '--tokens <n>' },
    descriptions: { delete: 'delete a provider that no agent uses' },
    columns: ({ now }) => [
      { title: 'NAME', value: ({ name }) => name, flexible: true },
      { title: 'REQUESTS', value: (one) => leftText(one.requests_left, one.requests_per_minute), right: true },
      { title: 'TOKENS', value: (one) => leftText(one.tokens_left, one.tokens_per_minute), right: true },
      { title: 'IN FLIGHT', value: inFlightText, right: true },
      { title: 'WAITING', value: ({ waiting }) => String(waiting), right: true },
      { title: 'AVAILABLE', value: ({ closed }) => (closed === null ? 'now' : relativeTimeText(closed.until, now)) },
    ],
    facts: ({ now }, provider) => [
      ['name', provider.name],
      ['requests per minute', quotaText(provider.requests_left, provider.requests_per_minute)],
      ['tokens per minute', quotaText(provider.tokens_left, provider.tokens_per_minute)],
      ['max concurrent', provider.max_concurrent === null ? 'no limit' : String(provider.max_concurrent)],
      ['in flight', String(provider.in_flight)],
      ['waiting', String(provider.waiting)],
      ['closed until', closedText(provider.closed, (until) => cliTimeText(until, now))],
      ['agents', provider.agents.length === 0 ? 'none' : provider.agents.join(', ')],
    ],
  })
}

/** The remaining quota; `-`: no quota. */
const leftText = (left: number | null, of: number | null): string => (of === null ? '-' : `${left ?? of}/${of}`)

const quotaText = (left: number | null, of: number | null): string =>
  of === null ? 'no limit' : `${left ?? of} of ${of} left`

const inFlightText = ({ in_flight: count, max_concurrent: max }: ProviderView): string =>
  max === null ? String(count) : `${count}/${max}`

const closedText = (closed: ProviderView['closed'], timeText: (until: string) => string | null): string | null =>
  closed === null ? null : `${timeText(closed.until) ?? ''} (${closed.quota})`
