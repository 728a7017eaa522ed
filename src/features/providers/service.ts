import type { Page } from '../../api/page.ts'
import type { PageFilter } from '../../api/common.ts'
import type { ProviderInput, ProviderPatch, ProviderView } from './schema.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { providerName, type AgentId, type ProviderName } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { closedQuota, createQuotaState, remainingQuota, changeQuotas, type Quotas } from '../../domain/budget/quota.ts'
import type { Transaction } from '../../platform/db/database.ts'
import {
  deleteProviderRow,
  insertProvider,
  loadProviderAgents,
  loadProviders,
  saveProvider,
  type ProviderRow,
} from './store.ts'
import { actorOf, changed, created, deleted, type AuditEntry } from '../audit/entry.ts'
import type { Caller } from '../access/caller.ts'
import { parseIdCursor, parseLimit, writeCursorParts } from '../../platform/db/cursor.ts'
import { applyProviderRows } from '../../engine/commands/quotas.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import { bindToKey } from '../../engine/idempotency.ts'
import { knownWork, type LiveWork } from '../../engine/live-port.ts'
import type { Ports } from '../../engine/ports.ts'
import type { Command } from '../../engine/commands-port.ts'

/** The ports that reading providers needs: queued and active runs are known only to the live engine. */
export type ProviderPorts = Ports & { readonly work: Pick<LiveWork, 'workOf'> }

const providerNotFound = (name: string): Refusal => new Refusal('NOT_FOUND', `There is no provider ${name}`)

/** A provider may have no quotas: its agents still share its rate limit responses. */
const NO_QUOTAS: Quotas = { requestsPerMinute: null, tokensPerMinute: null, maxConcurrent: null }

/** Applies a change: omitted quotas stay, and null removes a quota. */
function changedQuotas(before: Quotas, change: ProviderPatch): Quotas {
  const { requests_per_minute: requests, tokens_per_minute: tokens, max_concurrent: concurrent } = change
  return {
    requestsPerMinute: requests === undefined ? before.requestsPerMinute : requests,
    tokensPerMinute: tokens === undefined ? before.tokensPerMinute : tokens,
    maxConcurrent: concurrent === undefined ? before.maxConcurrent : concurrent,
  }
}

/** Creates a provider. Its quotas start full. */
export async function createProvider(
  ports: ProviderPorts,
  caller: Caller,
  input: ProviderInput,
): Promise<ProviderView> {
  const { orgId } = caller
  const name = await writeProvider(ports, caller, async (tx, now) => {
    const quotas = changedQuotas(NO_QUOTAS, input)
    const state = createQuotaState(quotas, now)
    const row = { orgId, name: providerName(input.name), quotas, state, createdAt: now, updatedAt: now }
    if (!(await insertProvider(tx, row))) throw new Refusal('CONFLICT', `Provider ${row.name} already exists`)
    return { name: row.name, change: 'created', before: null, after: providerSettings(row) }
  })
  return getProvider(ports, caller, name)
}

/** Updates the quotas of a provider. A higher quota releases waiting runs at once. */
export async function updateProvider(
  ports: ProviderPorts,
  caller: Caller,
  request: { readonly name: string; readonly change: ProviderPatch },
): Promise<ProviderView> {
  const name = await writeProvider(ports, caller, async (tx, now) => {
    const found = await findProviderRow(tx, caller, request.name)
    const quotas = changedQuotas(found.quotas, request.change)
    const state = changeQuotas(found.state, { before: found.quotas, after: quotas, now })
    const after = { ...found, quotas, state, updatedAt: now }
    await saveProvider(tx, after)
    return { name: found.name, change: 'updated', before: providerSettings(found), after: providerSettings(after) }
  })
  return getProvider(ports, caller, name)
}

/** Deletes a provider that no agent uses. */
export async function deleteProvider(
  ports: ProviderPorts,
  caller: Caller,
  request: { readonly name: string },
): Promise<void> {
  const { orgId } = caller
  await writeProvider(ports, caller, async (tx) => {
    const found = await findProviderRow(tx, caller, request.name)
    const agents = (await loadProviderAgents(tx, { orgId, name: found.name })).map(({ id }) => id)
    if (agents.length > 0)
      throw new Refusal('CONFLICT', `Provider ${found.name} is used by ${formatAgents(agents)}`, {
        details: { agents: agents.slice(0, MAX_SHOWN_AGENTS) },
      })
    await deleteProviderRow(tx, { orgId, name: found.name })
    return { name: found.name, change: 'deleted', before: providerSettings(found), after: null }
  })
}

const MAX_NAMED_AGENTS = 5

function formatAgents(agents: readonly string[]): string {
  const named = agents.slice(0, MAX_NAMED_AGENTS).join(', ')
  const others = agents.length - MAX_NAMED_AGENTS
  return `agent${agents.length === 1 ? '' : 's'} ${named}${others > 0 ? ` and ${others} more` : ''}`
}

async function findProviderRow(tx: Transaction, { orgId }: Caller, name: string): Promise<ProviderRow> {
  const found = (await loadProviders(tx, { orgId })).find((row) => row.name === name)
  if (found === undefined) throw providerNotFound(name)
  return found
}

interface ProviderChange {
  readonly name: ProviderName
  readonly change: string
  readonly before: object | null
  readonly after: object | null
}

function providerAudit(actor: string, { name, before, after }: ProviderChange): AuditEntry {
  const object = { kind: 'provider', id: name } as const
  if (after === null) return deleted(actor, object, before ?? {})
  return before === null ? created(actor, object, after) : changed(actor, object, { before, after })
}

/** Writes a change of a provider to the database and to the org state of every node. */
function writeProvider(
  ports: ProviderPorts,
  caller: Caller,
  write: (tx: Transaction, now: Instant) => Promise<ProviderChange>,
): Promise<ProviderName> {
  const { orgId } = caller
  const command: Command<ProviderName> = {
    orgId,
    prepare: async (tx, now) => ({ kept: await write(tx, now), providers: await loadProviders(tx, { orgId }) }),
    apply: (state, prepared) => {
      const { kept, providers } = prepared as {
        readonly kept: ProviderChange
        readonly providers: readonly ProviderRow[]
      }
      applyProviderRows(state, providers)
      state.changes.events.push({ kind: 'provider.changed', subject: kept.name, data: { change: kept.change } })
      state.changes.audits.push(providerAudit(actorOf(caller), kept))
      return kept.name
    },
  }
  return ports.commands.execute(bindToKey(command, caller))
}

/** The settings of a provider, in the form of the API. */
const providerSettings = ({ name, quotas }: { readonly name: string; readonly quotas: Quotas }) => ({
  name,
  requests_per_minute: quotas.requestsPerMinute,
  tokens_per_minute: quotas.tokensPerMinute,
  max_concurrent: quotas.maxConcurrent,
})

type ProviderReadPorts = Pick<ProviderPorts, 'database' | 'clock' | 'work'>

/** Returns a provider with its remaining quotas. */
export async function getProvider(
  ports: ProviderReadPorts,
  caller: Pick<Caller, 'orgId'>,
  name: string,
): Promise<ProviderView> {
  const found = (await findProviders(ports, caller)).find((provider) => provider.name === name)
  if (found === undefined) throw providerNotFound(name)
  return found
}

/** Lists all providers of the org by name, with their remaining quotas. */
export async function findProviders(
  { database, clock, work }: ProviderReadPorts,
  { orgId }: Pick<Caller, 'orgId'>,
): Promise<readonly ProviderView[]> {
  const rows = await loadProviders(database, { orgId })
  if (rows.length === 0) return []
  const [callers, { agents }] = await Promise.all([
    loadProviderAgents(database, { orgId }),
    knownWork({ database, work }, orgId),
  ])
  const loads = new Map(agents.map((agent) => [agent.id, agent]))
  const now = clock.now()
  return rows.map((row) => {
    const agentIds = callers.filter(({ provider }) => provider === row.name).map(({ id }) => id)
    return viewProvider(row, { now, agents: agentIds, loads })
  })
}

const MAX_SHOWN_AGENTS = 100

interface ProviderLoads {
  readonly now: Instant
  readonly agents: readonly AgentId[]
  readonly loads: ReadonlyMap<AgentId, { readonly queued: number; readonly active: number }>
}

function viewProvider(row: ProviderRow, { now, agents, loads }: ProviderLoads): ProviderView {
  const { quotas, state } = row
  const left = remainingQuota(state, quotas, now)
  const closed = closedQuota(state, quotas, now)
  let [inFlight, waiting] = [0, 0]
  for (const id of agents) {
    inFlight += loads.get(id)?.active ?? 0
    waiting += loads.get(id)?.queued ?? 0
  }
  return {
    ...providerSettings(row),
    org_id: row.orgId,
    requests_left: left.requests,
    tokens_left: left.tokens,
    in_flight: inFlight,
    waiting,
    closed: closed === null ? null : { quota: closed.quota, until: formatInstant(closed.until) },
    agents: agents.slice(0, MAX_SHOWN_AGENTS),
    created_at: formatInstant(row.createdAt),
    updated_at: formatInstant(row.updatedAt),
  }
}

/** Lists a page of providers by name. An org has few, because every node keeps all of them in memory. */
export async function findProviderPage(
  ports: ProviderReadPorts,
  caller: Pick<Caller, 'orgId'>,
  filter: PageFilter = {},
): Promise<Page<ProviderView>> {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const after = keep(parseIdCursor('cursor', filter.cursor))
  if (flaws.length > 0) throw invalid(flaws)
  const rest = (await findProviders(ports, caller)).filter(({ name }) => after === null || name > after)
  const items = rest.slice(0, limit)
  const last = items.at(-1)
  const next = rest.length > limit && last !== undefined ? writeCursorParts([providerName(last.name)]) : null
  return { items, next_cursor: next }
}
