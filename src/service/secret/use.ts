import { Refusal } from '../../api/refusals.ts'
import { parseHttpOptions, sampleUrl } from '../../executors/http/options.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { Flaw } from '../../domain/input.ts'
import { createMask, type Mask } from '../../domain/secret/mask.ts'
import { mayGoTo } from '../../domain/secret/secret-names.ts'
import { secretNamesIn } from '../../core/secret/secret-names.ts'
import type { AgentExecutor } from '../../features/agents/store.ts'
import type { Connection } from '../../store/database.ts'
import { loadSecrets, loadSecretUserOfRun, type SecretRow } from '../../store/secrets.ts'
import type { Caller } from '../caller.ts'
import type { Ports } from '../ports.ts'
import type { SealedPlace } from './vault-port.ts'

type VaultPorts = Pick<Ports, 'database' | 'vault'>

/** Where the value of a secret belongs. */
export const placeOf = ({ orgId, name }: Pick<SecretRow, 'orgId' | 'name'>): SealedPlace => ({
  ...{ orgId, kind: 'secret', name },
})

/** Secrets that somebody is about to send, or why they must not go there. */
type Exposed =
  | { readonly ok: true; readonly values: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly message: string }

/** Opens secrets for one address. What must not go there is not opened. */
export async function exposeSecrets(
  { database, vault }: VaultPorts,
  orgId: OrgId,
  { names, url }: { readonly names: readonly string[]; readonly url: string },
): Promise<Exposed> {
  const rows = await loadSecrets(database, { orgId, names })
  const message = names.map((name) => wrongWith(name, rows, url)).find((wrong) => wrong !== null)
  if (typeof message === 'string') return { ok: false, message }
  try {
    const values = await Promise.all(
      rows.map(async (row) => [row.name, await vault.open(row.sealedValue, placeOf(row))] as const),
    )
    return { ok: true, values: Object.fromEntries(values) }
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, message: error.message }
    throw error
  }
}

function wrongWith(name: string, rows: readonly SecretRow[], url: string): string | null {
  const row = rows.find((one) => one.name === name)
  const { host } = new URL(url)
  if (row === undefined)
    return `there is no secret ${name}; put it on record: escapement secrets set ${name} --host ${host}`
  return mayGoTo(row.hosts, url) ? null : `secret ${name} may not go to ${host}, only to ${row.hosts.join(', ')}`
}

/** What somebody wants to do with the executor of an agent. */
export interface SecretUse {
  readonly executor: AgentExecutor
  /** What it was so far; null: the agent is new. */
  readonly before: AgentExecutor | null
}

/**
 * Refuses an executor whose secrets are not there or must not go where it calls, and somebody who may not decide where
 * secrets go. An executor that names none, or has not changed, is fine.
 */
export async function judgeSecrets(
  connection: Connection,
  caller: Caller,
  { executor, before }: SecretUse,
): Promise<readonly Flaw[]> {
  const names = secretNamesIn(executor)
  if (names.length === 0 || JSON.stringify(executor) === JSON.stringify(before)) return []
  if (caller.principal !== null && caller.isAdmin !== true)
    throw new Refusal('FORBIDDEN', `admin:* is needed to say where secrets go; this agent names ${names.join(', ')}`, {
      details: { permission: 'admin:*', secrets: names },
    })
  const url = addressOf(executor)
  if (url === null) return [{ field: 'executor', value: undefined, message: 'names secrets and calls no address' }]
  const rows = await loadSecrets(connection, { orgId: caller.orgId, names })
  return names.flatMap((name) => {
    const wrong = wrongWith(name, rows, url)
    return wrong === null ? [] : [{ field: 'executor', value: undefined, message: `cannot be used: ${wrong}` }]
  })
}

/** Where an executor calls; null: nowhere. */
export function addressOf(executor: AgentExecutor): string | null {
  if (executor.kind === 'http') {
    const read = parseHttpOptions('executor', executor)
    return read.ok ? sampleUrl(read.value) : null
  }
  const { base_url: base } = executor as { readonly base_url?: unknown }
  return typeof base === 'string' && URL.canParse(base) ? base : null
}

/** Hides what the agent of a run was sent, in what is said about the run later; null: it was sent nothing. */
export async function maskOfRun(
  ports: VaultPorts,
  of: { readonly orgId: OrgId; readonly runId: string },
): Promise<Mask | null> {
  const user = await loadSecretUserOfRun(ports.database, of)
  if (user === undefined) return null
  const rows = await loadSecrets(ports.database, { orgId: of.orgId, names: secretNamesIn(user.executor) })
  return createMask(await Promise.all(rows.map((row) => ports.vault.open(row.sealedValue, placeOf(row)))))
}
