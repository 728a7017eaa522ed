import { amountsStated, amountsUsed } from '../../domain/budget/amounts.ts'
import { reserveFor } from '../../domain/budget/budget.ts'
import { budgetId, type AgentId, type BudgetId, type ProviderName } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import type { ProviderLoad } from '../../domain/queue/gates.ts'
import {
  chargeAttempt,
  chargeTokens,
  closedQuota,
  applyRefusal,
  applyReported,
  returnRequest,
  applySuccess,
  type QuotaState,
  type ReportedQuota,
} from '../../domain/budget/quota.ts'
import type { AttemptOutcome } from '../../domain/run/outcome.ts'
import { isInFlight } from '../../domain/run/run.ts'
import { isTerminal, type RunState } from '../../domain/run/run-machine.ts'
import type { ProviderRow } from '../../features/providers/store.ts'
import type { RunRow } from '../../features/runs/store.ts'
import type { OrgState } from '../org-state/org-state.ts'
import { recordTokens, type LoadedProvider, type OrgQuotas } from '../org-state/quota-usage.ts'

/**
 * Applies the quotas of providers. A request is charged when an attempt goes into flight, on a node or a worker, with
 * its expected tokens; unused reserved tokens are returned when it leaves flight, and reported ones are charged then.
 * Everything is decided in transactions under the org's lock, so the sums are exact across nodes.
 */

/** Reserves for a provider are stored among the reserves for budgets; no budget has such an id. */
const RESERVE_PREFIX = 'provider:'
const reserveIdOf = (name: ProviderName): BudgetId => budgetId(`${RESERVE_PREFIX}${name}`)
const isReserve = ({ budgetId: id }: RunRow['reserves'][number]): boolean => id.startsWith(RESERVE_PREFIX)

/** Replaces the providers by those from the database. */
export function applyProviderRows(
  orgState: OrgState,
  rows: readonly Pick<ProviderRow, 'name' | 'quotas' | 'state'>[],
): void {
  if (rows.length === 0 && orgState.quotas === null) return
  const orgQuotas: OrgQuotas = orgState.quotas ?? { providers: new Map(), typicalTokens: new Map() }
  const gone = new Set(orgQuotas.providers.keys())
  for (const { name, quotas, state } of rows) {
    const known = gone.delete(name) ? orgQuotas.providers.get(name) : undefined
    const load = known?.load ?? { name, until: null, quota: 'requests_per_minute', limit: null }
    const provider = known ?? { name, quotas, state, load }
    provider.quotas = quotas
    orgQuotas.providers.set(name, provider)
    if (known === undefined) orgState.quotasChanged = true
    applyState(orgState, provider, state)
  }
  for (const name of gone) orgQuotas.providers.delete(name)
  if (gone.size > 0) orgState.quotasChanged = true
  orgState.quotas = rows.length === 0 ? null : orgQuotas
}

/** The loads that the ready queue reads, by provider. */
export const quotaLoads = (orgState: OrgState): ReadonlyMap<ProviderName, ProviderLoad> =>
  new Map([...(orgState.quotas?.providers ?? [])].map(([name, { load }]) => [name, load]))

function applyState({ now }: OrgState, provider: LoadedProvider, state: QuotaState): void {
  const { load, quotas } = provider
  provider.state = state
  const closed = closedQuota(state, quotas, now)
  load.until = closed?.until ?? null
  if (closed !== null) load.quota = closed.quota
  load.limit = quotas.maxConcurrent
}

function changeState(orgState: OrgState, provider: LoadedProvider, state: QuotaState): void {
  if (state === provider.state) return
  applyState(orgState, provider, state)
  orgState.changes.providers.add(provider)
}

function providerOfAgent(orgState: OrgState, orgQuotas: OrgQuotas, id: AgentId): LoadedProvider | undefined {
  const name = orgState.agents.get(id)?.provider ?? null
  return name === null ? undefined : orgQuotas.providers.get(name)
}

/**
 * Updates quotas after a run has changed its state: an attempt that starts is a request, and its reserve ends with it.
 */
export function chargeFlight(
  orgState: OrgState,
  orgQuotas: OrgQuotas,
  { run, from }: { run: RunRow; from: RunState },
): void {
  const isNowInFlight = isInFlight(run.state)
  if (isNowInFlight === isInFlight(from)) return
  if (isNowInFlight) chargeAttemptStart(orgState, orgQuotas, run)
  else returnReserve(orgState, orgQuotas, run)
}

function chargeAttemptStart(orgState: OrgState, orgQuotas: OrgQuotas, run: RunRow): void {
  const provider = providerOfAgent(orgState, orgQuotas, run.agentId)
  if (provider === undefined) return
  const tokens = provider.quotas.tokensPerMinute === null ? 0 : expectedTokens(orgQuotas, run)
  changeState(orgState, provider, chargeAttempt(provider.state, provider.quotas, { now: orgState.now, tokens }))
  if (tokens > 0) run.reserves = [...run.reserves, { budgetId: reserveIdOf(provider.name), amount: tokens }]
}

/** The tokens the run states, or the typical usage of its agent, whichever is more; 0 when neither is known. */
function expectedTokens(orgQuotas: OrgQuotas, { agentId, payload }: Pick<RunRow, 'agentId' | 'payload'>): number {
  const last = (orgQuotas.typicalTokens.get(agentId) ?? []).map(({ tokens }) => tokens)
  return reserveFor(amountsStated(payload).tokens, last, 0)
}

function returnReserve(orgState: OrgState, orgQuotas: OrgQuotas, run: RunRow): void {
  if (!run.reserves.some(isReserve)) return
  for (const { budgetId: id, amount } of run.reserves.filter(isReserve)) {
    const provider = orgQuotas.providers.get(id.slice(RESERVE_PREFIX.length) as ProviderName)
    if (provider !== undefined) useTokens(orgState, provider, -amount)
  }
  run.reserves = run.reserves.filter((reserve) => !isReserve(reserve))
}

function useTokens(orgState: OrgState, provider: LoadedProvider, tokens: number): void {
  if (tokens === 0 || provider.quotas.tokensPerMinute === null) return
  changeState(orgState, provider, chargeTokens(provider.state, provider.quotas, { now: orgState.now, tokens }))
}

/** A large payload is read only when its run starts, so what it states is known only then. */
export function chargeStated(
  orgState: OrgState,
  orgQuotas: OrgQuotas,
  { run, payload }: { run: RunRow; payload: unknown },
): void {
  const provider = providerOfAgent(orgState, orgQuotas, run.agentId)
  if (provider === undefined || provider.quotas.tokensPerMinute === null) return
  const tokens = expectedTokens(orgQuotas, { agentId: run.agentId, payload })
  const before = run.reserves.find(isReserve)?.amount ?? 0
  if (tokens <= before) return
  useTokens(orgState, provider, tokens - before)
  const others = run.reserves.filter((reserve) => !isReserve(reserve))
  run.reserves = [...others, { budgetId: reserveIdOf(provider.name), amount: tokens }]
}

/** Counts what an attempt has reported, and whether its provider still accepts requests. */
export function countReport(
  orgState: OrgState,
  orgQuotas: OrgQuotas,
  {
    run,
    report,
  }: { run: RunRow; report: { readonly outcome: AttemptOutcome; readonly quota?: ReportedQuota | undefined } },
): void {
  const { outcome, quota } = report
  const provider = providerOfAgent(orgState, orgQuotas, run.agentId)
  if (provider === undefined) return
  // The provider was not called.
  if (outcome.kind === 'not_needed') {
    changeState(orgState, provider, returnRequest(provider.state, provider.quotas, orgState.now))
    return
  }
  useTokens(orgState, provider, amountsUsed(run.usage).tokens ?? 0)
  if (isTerminal(run.state)) recordTokens(orgQuotas, run)
  const { now } = orgState
  const startedAt = run.startedAt ?? now
  const before = provider.state.blockedUntil
  if (outcome.kind === 'succeeded') changeState(orgState, provider, applySuccess(provider.state, startedAt))
  if (quota !== undefined)
    changeState(orgState, provider, applyReported(provider.state, provider.quotas, { now, reported: quota }))
  if (outcome.kind === 'failed' && outcome.busy === true) {
    const { retryAfterMs } = outcome
    changeState(orgState, provider, applyRefusal(provider.state, { now, startedAt, retryAfterMs }))
  }
  publishBlock(orgState, provider, before)
}

function publishBlock({ changes }: OrgState, { name, state }: LoadedProvider, before: Instant | null): void {
  const { blockedUntil } = state
  if (blockedUntil === null || blockedUntil === before) return
  const data = { change: 'blocked', until: formatInstant(blockedUntil) }
  changes.events.push({ kind: 'provider.changed', subject: name, data })
}

/** Agents whose token usage must be read before their runs are picked. */
export function agentsToRead(orgState: OrgState, orgQuotas: OrgQuotas): readonly AgentId[] {
  const counting = [...orgQuotas.providers.values()].filter(({ quotas }) => quotas.tokensPerMinute !== null)
  if (counting.length === 0) return []
  const names = new Set(counting.map(({ name }) => name))
  const unknown: AgentId[] = []
  for (const { id, provider } of orgState.agents.values())
    if (provider !== null && names.has(provider) && !orgQuotas.typicalTokens.has(id)) unknown.push(id)
  return unknown
}
