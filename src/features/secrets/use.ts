import { Refusal } from '../../api/refusals.ts'
import { parseCommandOptions, serviceOf } from '../../executors/command/options.ts'
import { parseHttpOptions, sampleUrl } from '../../executors/http/options.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { Flaw } from '../../domain/input.ts'
import { createMask, type Mask } from '../../domain/secret/mask.ts'
import { isHostAllowed, secretNamesIn } from '../../domain/secret/secret-names.ts'
import type { AgentExecutor } from '../agents/store.ts'
import type { Connection } from '../../platform/db/database.ts'
import { loadSecrets, loadSecretUserOfRun, type SecretRow } from './store.ts'
import type { Caller } from '../access/caller.ts'
import type { Ports } from '../../engine/ports.ts'
import type { SealedRowRef } from './vault-port.ts'

type VaultPorts = Pick<Ports, 'database' | 'vault'>

/** The row that the sealed value of a secret is bound to. */
export const secretRowRef = ({ orgId, name }: Pick<SecretRow, 'orgId' | 'name'>): SealedRowRef => ({
  ...{ orgId, kind: 'secret', name },
})

/** Values of secrets for one address, or why they must not be sent there. */
type ExposeResult =
  | { readonly ok: true; readonly values: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly message: string }

/** Opens secrets for one address. Opens none if one of them must not be sent there. */
export async function exposeSecrets(
  { database, vault }: VaultPorts,
  orgId: OrgId,
  { names, url }: { readonly names: readonly string[]; readonly url: string },
): Promise<ExposeResult> {
  const rows = await loadSecrets(database, { orgId, names })
  const message = names.map((name) => secretUseError(name, rows, url)).find((useError) => useError !== null)
  if (typeof message === 'string') return { ok: false, message }
  try {
    const values = await Promise.all(
      rows.map(async (row) => [row.name, await vault.open(row.sealedValue, secretRowRef(row))] as const),
    )
    return { ok: true, values: Object.fromEntries(values) }
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, message: error.message }
    throw error
  }
}

function secretUseError(name: string, rows: readonly SecretRow[], url: string): string | null {
  const row = rows.find((one) => one.name === name)
  const { host } = new URL(url)
  if (row === undefined)
    return `there is no secret ${name}; create it with: escapement secrets set ${name} --host ${host}`
  return isHostAllowed(row.hosts, url)
    ? null
    : `secret ${name} may not be sent to ${host}, only to ${row.hosts.join(', ')}`
}

/** A new or changed executor of an agent. */
export interface ExecutorChange {
  readonly executor: AgentExecutor
  /** The executor before the change. Null: the agent is new. */
  readonly before: AgentExecutor | null
}

/**
 * Checks that the secrets of an executor exist and may be sent to its URL. Refuses callers without permission to choose
 * where secrets are sent. An executor without secrets, or an unchanged one, always passes.
 */
export async function checkSecretsOfExecutor(
  connection: Connection,
  caller: Caller,
  { executor, before }: ExecutorChange,
): Promise<readonly Flaw[]> {
  const names = secretNamesIn(executor)
  if (names.length === 0 || JSON.stringify(executor) === JSON.stringify(before)) return []
  if (caller.principal !== null && caller.isAdmin !== true)
    throw new Refusal(
      'FORBIDDEN',
      `Permission admin:* is required to choose where secrets are sent; this agent uses ${names.join(', ')}`,
      {
        details: { permission: 'admin:*', secrets: names },
      },
    )
  const url = urlOfExecutor(executor)
  if (url === null) return [{ field: 'executor', value: undefined, message: 'uses secrets but calls no URL' }]
  const rows = await loadSecrets(connection, { orgId: caller.orgId, names })
  return names.flatMap((name) => {
    const useError = secretUseError(name, rows, url)
    return useError === null ? [] : [{ field: 'executor', value: undefined, message: `cannot be used: ${useError}` }]
  })
}

/** The URL that an executor calls. Null: none. */
export function urlOfExecutor(executor: AgentExecutor): string | null {
  if (executor.kind === 'http') {
    const options = parseHttpOptions('executor', executor)
    return options.ok ? sampleUrl(options.value) : null
  }
  if (executor.kind === 'command') {
    const options = parseCommandOptions('executor', executor)
    return options.ok ? serviceOf(options.value) : null
  }
  const { base_url: baseUrl } = executor as { readonly base_url?: unknown }
  return typeof baseUrl === 'string' && URL.canParse(baseUrl) ? baseUrl : null
}

/** The mask that hides the secrets of a run's agent in its output. Null: the agent uses no secrets. */
export async function maskOfRun(
  ports: VaultPorts,
  runRef: { readonly orgId: OrgId; readonly runId: string },
): Promise<Mask | null> {
  const user = await loadSecretUserOfRun(ports.database, runRef)
  if (user === undefined) return null
  const rows = await loadSecrets(ports.database, { orgId: runRef.orgId, names: secretNamesIn(user.executor) })
  return createMask(await Promise.all(rows.map((row) => ports.vault.open(row.sealedValue, secretRowRef(row)))))
}
