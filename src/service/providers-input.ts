import { invalid } from '../api/refusals.ts'
import type { OrgId, ProviderName } from '../domain/ids.ts'
import type { Connection } from '../store/database.ts'
import { loadProviders } from '../features/providers/store.ts'

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
