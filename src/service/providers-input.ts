import { invalid } from '../contract/refusals.ts'
import { addAll } from '../core/long-lists.ts'
import { providerName, type OrgId, type ProviderName } from '../core/ids.ts'
import { flawed, orNull, parsed, parseInteger, type Parsed } from '../core/input.ts'
import { MOST_REQUESTS_PER_MINUTE, MOST_TOKENS_PER_MINUTE, type Quotas } from '../core/quota/quota.ts'
import type { Connection } from '../store/database.ts'
import { loadProviders } from '../store/providers.ts'
import { collectFlaws, parseObject, unknownFields } from './input-fields.ts'

const QUOTAS = ['requests_per_minute', 'tokens_per_minute', 'max_concurrent']

/** Names stand in paths and in reasons: letters, digits and a few signs that mean nothing there. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,99}$/u

/** Reads the name of a provider. */
export function parseProviderName(field: string, value: unknown): Parsed<ProviderName> {
  return typeof value === 'string' && NAME.test(value)
    ? parsed(providerName(value))
    : flawed({ field, value, message: 'cannot be a name', allowed: '1 to 100 letters, digits, . _ -' })
}

const upTo =
  (max: number) =>
  (field: string, value: unknown): Parsed<number> =>
    parseInteger(field, value, { min: 1, max })

const NO_QUOTAS: Quotas = { requestsPerMinute: null, tokensPerMinute: null, maxConcurrent: null }

/** Reads the quotas of a provider, or a change of them: what a change leaves out stays, and null takes one away. */
function parseQuotas(value: unknown, existing: Quotas | null): Parsed<Quotas> {
  const object = parseObject('provider', value)
  if (!object.ok) return object
  const given = object.value
  const { flaws, keep } = collectFlaws()
  addAll(flaws, unknownFields('', given, existing === null ? ['name', ...QUOTAS] : QUOTAS))
  const before = existing ?? NO_QUOTAS
  const quota = (name: string, max: number, otherwise: number | null): number | null =>
    given[name] === undefined ? otherwise : keep(orNull(upTo(max))(name, given[name]))
  const quotas: Quotas = {
    requestsPerMinute: quota('requests_per_minute', MOST_REQUESTS_PER_MINUTE, before.requestsPerMinute),
    tokensPerMinute: quota('tokens_per_minute', MOST_TOKENS_PER_MINUTE, before.tokensPerMinute),
    maxConcurrent: quota('max_concurrent', 1_000_000, before.maxConcurrent),
  }
  return flaws.length > 0 ? flawed(flaws) : parsed(quotas)
}

/** Reads a new provider. One without any quota is let be: refusals of it are still shared by all that call it. */
export function parseProvider(value: unknown): Parsed<{ readonly name: ProviderName; readonly quotas: Quotas }> {
  const { flaws, keep } = collectFlaws()
  const quotas = keep(parseQuotas(value, null))
  const given = typeof value === 'object' && value !== null ? (value as { readonly name?: unknown }) : {}
  if (quotas !== null && given.name === undefined)
    return flawed({ field: 'name', value: undefined, message: 'is missing' })
  const name = given.name === undefined ? null : keep(parseProviderName('name', given.name))
  return quotas === null || name === null || flaws.length > 0 ? flawed(flaws) : parsed({ name, quotas })
}

/** Reads a change of a provider. Its name is what agents and records call it, so it never changes. */
export function parseProviderChange(value: unknown, existing: Quotas): Parsed<Quotas> {
  return parseQuotas(value, existing)
}

/** Refuses an agent that names a provider nobody has made: it would wait for nothing and be counted nowhere. */
export async function requireProvider(
  connection: Connection,
  agent: { readonly orgId: OrgId; readonly provider: ProviderName | null },
): Promise<void> {
  const { orgId, provider } = agent
  if (provider === null) return
  const names = (await loadProviders(connection, { orgId })).map(({ name }) => name)
  if (names.includes(provider)) return
  const allowed = names.length === 0 ? 'null: there are no providers yet' : names.slice(0, 20).join(', ')
  throw invalid([{ field: 'provider', value: provider, message: 'names no provider', allowed }])
}
