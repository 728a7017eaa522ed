import { amountsStated, amountsUsed } from '../../core/budget/amounts.ts'
import { reserveFor } from '../../domain/budget/budget.ts'
import { budgetId, type AgentId, type BudgetId, type ProviderName } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import type { ProviderLoad } from '../../core/picking/provider-gate.ts'
import {
  chargeAttempt,
  chargeTokens,
  closedQuota,
  refuse,
  returnRequest,
  succeed,
  type QuotaState,
} from '../../core/quota/quota.ts'
import type { Outcome } from '../../domain/run/outcome.ts'
import { isInFlight } from '../../domain/run/run.ts'
import { isTerminal, type RunState } from '../../domain/run/run-machine.ts'
import type { ProviderRow } from '../../features/providers/store.ts'
import type { RunRow } from '../../store/run-row.ts'
import type { Desk } from './desk.ts'
import { bookTokens, type ProviderOnDesk, type QuotaBook } from './quota-book.ts'

/**
 * Quotas of providers at work. A request is charged when an attempt goes into flight, whoever performs it, with the
 * tokens it will probably use; what it set aside and did not use comes back when it leaves flight, and what it reports is
 * charged then. Everything is decided in turns under the org's lock, so the sums are exact across nodes.
 */

/** What runs set aside for a provider stands among what they set aside in budgets; no budget has such an id. */
const RESERVE_PREFIX = 'provider:'
const reserveIdOf = (name: ProviderName): BudgetId => budgetId(`${RESERVE_PREFIX}${name}`)
const isReserve = ({ budgetId: id }: RunRow['reserves'][number]): boolean => id.startsWith(RESERVE_PREFIX)

/** Takes in the providers of the org as they are on record. */
export function takeProviders(desk: Desk, rows: readonly Pick<ProviderRow, 'name' | 'quotas' | 'state'>[]): void {
  if (rows.length === 0 && desk.quotas === null) return
  const book: QuotaBook = desk.quotas ?? { providers: new Map(), habits: new Map() }
  const gone = new Set(book.providers.keys())
  for (const { name, quotas, state } of rows) {
    const known = gone.delete(name) ? book.providers.get(name) : undefined
    const load = known?.load ?? { name, until: null, quota: 'requests_per_minute', limit: null }
    const provider = known ?? { name, quotas, state, load }
    provider.quotas = quotas
    book.providers.set(name, provider)
    if (known === undefined) desk.quotasChanged = true
    keepState(desk, provider, state)
  }
  for (const name of gone) book.providers.delete(name)
  if (gone.size > 0) desk.quotasChanged = true
  desk.quotas = rows.length === 0 ? null : book
}

/** What whoever picks looks at, by name. */
export const quotaLoads = (desk: Desk): ReadonlyMap<ProviderName, ProviderLoad> =>
  new Map([...(desk.quotas?.providers ?? [])].map(([name, { load }]) => [name, load]))

function keepState({ now }: Desk, provider: ProviderOnDesk, state: QuotaState): void {
  const { load, quotas } = provider
  provider.state = state
  const closed = closedQuota(state, quotas, now)
  load.until = closed?.until ?? null
  if (closed !== null) load.quota = closed.quota
  load.limit = quotas.maxConcurrent
}

function changeState(desk: Desk, provider: ProviderOnDesk, state: QuotaState): void {
  if (state === provider.state) return
  keepState(desk, provider, state)
  desk.changes.providers.add(provider)
}

function providerOf(desk: Desk, book: QuotaBook, id: AgentId): ProviderOnDesk | undefined {
  const name = desk.agents.get(id)?.provider ?? null
  return name === null ? undefined : book.providers.get(name)
}

/** A run has changed its state: an attempt that begins is a request, and what it set aside ends with it. */
export function noteFlight(desk: Desk, book: QuotaBook, { run, from }: { run: RunRow; from: RunState }): void {
  const flies = isInFlight(run.state)
  if (flies === isInFlight(from)) return
  if (flies) beginRequest(desk, book, run)
  else giveBack(desk, book, run)
}

function beginRequest(desk: Desk, book: QuotaBook, run: RunRow): void {
  const provider = providerOf(desk, book, run.agentId)
  if (provider === undefined) return
  const tokens = provider.quotas.tokensPerMinute === null ? 0 : expectedTokens(book, run)
  changeState(desk, provider, chargeAttempt(provider.state, provider.quotas, { now: desk.now, tokens }))
  if (tokens > 0) run.reserves = [...run.reserves, { budgetId: reserveIdOf(provider.name), amount: tokens }]
}

/** What the run states it needs at most, or what runs of its agent mostly use, whichever is more; else nothing. */
function expectedTokens(book: QuotaBook, { agentId, payload }: Pick<RunRow, 'agentId' | 'payload'>): number {
  const last = (book.habits.get(agentId) ?? []).map(({ tokens }) => tokens)
  return reserveFor(amountsStated(payload).tokens, last, 0)
}

function giveBack(desk: Desk, book: QuotaBook, run: RunRow): void {
  if (!run.reserves.some(isReserve)) return
  for (const { budgetId: id, amount } of run.reserves.filter(isReserve)) {
    const provider = book.providers.get(id.slice(RESERVE_PREFIX.length) as ProviderName)
    if (provider !== undefined) useTokens(desk, provider, -amount)
  }
  run.reserves = run.reserves.filter((reserve) => !isReserve(reserve))
}

function useTokens(desk: Desk, provider: ProviderOnDesk, tokens: number): void {
  if (tokens === 0 || provider.quotas.tokensPerMinute === null) return
  changeState(desk, provider, chargeTokens(provider.state, provider.quotas, { now: desk.now, tokens }))
}

/** A large payload is on record until its run starts: only then can be read what it states. */
export function noteStated(desk: Desk, book: QuotaBook, { run, payload }: { run: RunRow; payload: unknown }): void {
  const provider = providerOf(desk, book, run.agentId)
  if (provider === undefined || provider.quotas.tokensPerMinute === null) return
  const tokens = expectedTokens(book, { agentId: run.agentId, payload })
  const before = run.reserves.find(isReserve)?.amount ?? 0
  if (tokens <= before) return
  useTokens(desk, provider, tokens - before)
  const others = run.reserves.filter((reserve) => !isReserve(reserve))
  run.reserves = [...others, { budgetId: reserveIdOf(provider.name), amount: tokens }]
}

/** Counts what an attempt has reported, and whether its provider still takes work. */
export function countReport(desk: Desk, book: QuotaBook, { run, outcome }: { run: RunRow; outcome: Outcome }): void {
  const provider = providerOf(desk, book, run.agentId)
  if (provider === undefined) return
  // Nobody was called.
  if (outcome.kind === 'not_needed') {
    changeState(desk, provider, returnRequest(provider.state, provider.quotas, desk.now))
    return
  }
  useTokens(desk, provider, amountsUsed(run.usage).tokens ?? 0)
  if (isTerminal(run.state)) bookTokens(book, run)
  const { now } = desk
  const startedAt = run.startedAt ?? now
  if (outcome.kind === 'succeeded') changeState(desk, provider, succeed(provider.state, startedAt))
  if (outcome.kind !== 'failed' || outcome.busy !== true) return
  const before = provider.state.blockedUntil
  changeState(desk, provider, refuse(provider.state, { now, startedAt, retryAfterMs: outcome.retryAfterMs }))
  tellBlock(desk, provider, before)
}

function tellBlock({ changes }: Desk, { name, state }: ProviderOnDesk, before: Instant | null): void {
  const { blockedUntil } = state
  if (blockedUntil === null || blockedUntil === before) return
  const data = { change: 'blocked', until: formatInstant(blockedUntil) }
  changes.events.push({ kind: 'provider.changed', subject: name, data })
}

/** Agents on the desk whose use of tokens has to be known before they are served, and is not. */
export function unknownHabits(desk: Desk, book: QuotaBook): readonly AgentId[] {
  const counting = [...book.providers.values()].filter(({ quotas }) => quotas.tokensPerMinute !== null)
  if (counting.length === 0) return []
  const names = new Set(counting.map(({ name }) => name))
  const unknown: AgentId[] = []
  for (const { id, provider } of desk.agents.values())
    if (provider !== null && names.has(provider) && !book.habits.has(id)) unknown.push(id)
  return unknown
}
