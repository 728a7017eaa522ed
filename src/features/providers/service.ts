import type { Page } from '../../api/page.ts'
import type { PageFilter } from '../../api/common.ts'
import type { ProviderInput, ProviderPatch, ProviderView } from './schema.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { providerName, type AgentId, type ProviderName } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { closedQuota, fullBuckets, leftOf, withQuotas, type Quotas } from '../../core/quota/quota.ts'
import type { Transaction } from '../../store/database.ts'
import { deleteProvider, insertProvider, loadCallers, loadProviders, saveProvider, type ProviderRow } from './store.ts'
import { actorOf, changed, created, deleted, type AuditEntry } from '../audit/entry.ts'
import type { Caller } from '../../service/caller.ts'
import { parseIdCursor, parseLimit, writeCursorParts } from '../../platform/db/cursor.ts'
import { takeProviders } from '../../service/desk/quotas.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import { bound } from '../../service/idempotent.ts'
import { knownWork } from '../../service/known-work.ts'
import type { LiveWork } from '../../service/live-port.ts'
import type { Ports } from '../../service/ports.ts'
import type { Work } from '../../service/turn-port.ts'

/** What reading providers needs: what waits for them is known where work is done. */
export type ProviderPorts = Ports & { readonly work: Pick<LiveWork, 'workOf'> }

const noProvider = (name: string): Refusal => new Refusal('NOT_FOUND', `There is no provider ${name}`)

/** One without any quota is let be: refusals of it are still shared by all that call it. */
const NO_QUOTAS: Quotas = { requestsPerMinute: null, tokensPerMinute: null, maxConcurrent: null }

/** What a change leaves out stays, and null takes a quota away. */
function changedQuotas(before: Quotas, change: ProviderPatch): Quotas {
  const { requests_per_minute: requests, tokens_per_minute: tokens, max_concurrent: concurrent } = change
  return {
    requestsPerMinute: requests === undefined ? before.requestsPerMinute : requests,
    tokensPerMinute: tokens === undefined ? before.tokensPerMinute : tokens,
    maxConcurrent: concurrent === undefined ? before.maxConcurrent : concurrent,
  }
}

/** Makes a provider. Its buckets begin full. */
export async function createProvider(
  ports: ProviderPorts,
  caller: Caller,
  input: ProviderInput,
): Promise<ProviderView> {
  const { orgId } = caller
  const name = await keepProviders(ports, caller, async (tx, now) => {
    const quotas = changedQuotas(NO_QUOTAS, input)
    const state = fullBuckets(quotas, now)
    const row = { orgId, name: providerName(input.name), quotas, state, createdAt: now, updatedAt: now }
    if (!(await insertProvider(tx, row))) throw new Refusal('CONFLICT', `There is a provider ${row.name} already`)
    return { name: row.name, change: 'created', before: null, after: settingsOf(row) }
  })
  return getProvider(ports, caller, name)
}

/** Changes the quotas of a provider. More room lets waiting work go on at once. */
export async function changeProvider(
  ports: ProviderPorts,
  caller: Caller,
  asked: { readonly name: string; readonly change: ProviderPatch },
): Promise<ProviderView> {
  const name = await keepProviders(ports, caller, async (tx, now) => {
    const found = await providerAsked(tx, caller, asked.name)
    const quotas = changedQuotas(found.quotas, asked.change)
    const state = withQuotas(found.state, { before: found.quotas, after: quotas, now })
    const after = { ...found, quotas, state, updatedAt: now }
    await saveProvider(tx, after)
    return { name: found.name, change: 'updated', before: settingsOf(found), after: settingsOf(after) }
  })
  return getProvider(ports, caller, name)
}

/** Deletes a provider that no agent names. */
export async function removeProvider(
  ports: ProviderPorts,
  caller: Caller,
  asked: { readonly name: string },
): Promise<void> {
  const { orgId } = caller
  await keepProviders(ports, caller, async (tx) => {
    const found = await providerAsked(tx, caller, asked.name)
    const agents = (await loadCallers(tx, { orgId, name: found.name })).map(({ id }) => id)
    if (agents.length > 0)
      throw new Refusal('CONFLICT', `Provider ${found.name} is called by ${listed(agents)}`, {
        details: { agents: agents.slice(0, MOST_AGENTS) },
      })
    await deleteProvider(tx, { orgId, name: found.name })
    return { name: found.name, change: 'deleted', before: settingsOf(found), after: null }
  })
}

const NAMED = 5

function listed(agents: readonly string[]): string {
  const named = agents.slice(0, NAMED).join(', ')
  const others = agents.length - NAMED
  return `agent${agents.length === 1 ? '' : 's'} ${named}${others > 0 ? ` and ${others} more` : ''}`
}

async function providerAsked(tx: Transaction, { orgId }: Caller, name: string): Promise<ProviderRow> {
  const found = (await loadProviders(tx, { orgId })).find((row) => row.name === name)
  if (found === undefined) throw noProvider(name)
  return found
}

interface Kept {
  readonly name: ProviderName
  readonly change: string
  readonly before: object | null
  readonly after: object | null
}

function recordOf(actor: string, { name, before, after }: Kept): AuditEntry {
  const object = { kind: 'provider', id: name } as const
  if (after === null) return deleted(actor, object, before ?? {})
  return before === null ? created(actor, object, after) : changed(actor, object, { before, after })
}

/** Changes providers on record and what every node remembers of them. */
function keepProviders(
  ports: ProviderPorts,
  caller: Caller,
  write: (tx: Transaction, now: Instant) => Promise<Kept>,
): Promise<ProviderName> {
  const { orgId } = caller
  const work: Work<ProviderName> = {
    orgId,
    prepare: async (tx, now) => ({ kept: await write(tx, now), providers: await loadProviders(tx, { orgId }) }),
    apply: (desk, prepared) => {
      const { kept, providers } = prepared as { readonly kept: Kept; readonly providers: readonly ProviderRow[] }
      takeProviders(desk, providers)
      desk.changes.events.push({ kind: 'provider.changed', subject: kept.name, data: { change: kept.change } })
      desk.changes.audits.push(recordOf(actorOf(caller), kept))
      return kept.name
    },
  }
  return ports.turns.take(bound(work, caller))
}

/** What a person has decided about a provider. */
const settingsOf = ({ name, quotas }: { readonly name: string; readonly quotas: Quotas }) => ({
  name,
  requests_per_minute: quotas.requestsPerMinute,
  tokens_per_minute: quotas.tokensPerMinute,
  max_concurrent: quotas.maxConcurrent,
})

type Reading = Pick<ProviderPorts, 'database' | 'clock' | 'work'>

/** The provider, with what is left of its quotas. */
export async function getProvider(ports: Reading, caller: Pick<Caller, 'orgId'>, name: string): Promise<ProviderView> {
  const found = (await findProviders(ports, caller)).find((provider) => provider.name === name)
  if (found === undefined) throw noProvider(name)
  return found
}

/** All providers of the org by name, with what is left of their quotas. */
export async function findProviders(
  { database, clock, work }: Reading,
  { orgId }: Pick<Caller, 'orgId'>,
): Promise<readonly ProviderView[]> {
  const rows = await loadProviders(database, { orgId })
  if (rows.length === 0) return []
  const [callers, { agents }] = await Promise.all([
    loadCallers(database, { orgId }),
    knownWork({ database, work }, orgId),
  ])
  const loads = new Map(agents.map((agent) => [agent.id, agent]))
  const now = clock.now()
  return rows.map((row) => {
    const mine = callers.filter(({ provider }) => provider === row.name).map(({ id }) => id)
    return viewProvider(row, { now, agents: mine, loads })
  })
}

const MOST_AGENTS = 100

interface Seen {
  readonly now: Instant
  readonly agents: readonly AgentId[]
  readonly loads: ReadonlyMap<AgentId, { readonly queued: number; readonly active: number }>
}

function viewProvider(row: ProviderRow, { now, agents, loads }: Seen): ProviderView {
  const { quotas, state } = row
  const left = leftOf(state, quotas, now)
  const closed = closedQuota(state, quotas, now)
  let [inFlight, waiting] = [0, 0]
  for (const id of agents) {
    inFlight += loads.get(id)?.active ?? 0
    waiting += loads.get(id)?.queued ?? 0
  }
  return {
    ...settingsOf(row),
    org_id: row.orgId,
    requests_left: left.requests,
    tokens_left: left.tokens,
    in_flight: inFlight,
    waiting,
    closed: closed === null ? null : { quota: closed.quota, until: formatInstant(closed.until) },
    agents: agents.slice(0, MOST_AGENTS),
    created_at: formatInstant(row.createdAt),
    updated_at: formatInstant(row.updatedAt),
  }
}

/** A page of the org's providers, by name. Every node has all of them in mind, so there are never many. */
export async function findProviderPage(
  ports: Reading,
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
