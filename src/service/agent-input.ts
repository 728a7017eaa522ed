import type { AgentInput, AgentPatch } from '../features/agents/schema.ts'
import { invalid } from '../api/refusals.ts'
import { parseExecutor } from '../executors/parse-executor.ts'
import { agentId, providerName, sessionKey, type OrgId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import { defaultMaxRetries } from '../domain/run/retry.ts'
import { DEFAULT_RETRY_POLICY, keptPolicyOf } from '../domain/run/retry-policy.ts'
import type { AgentExecutor, AgentRow } from '../features/agents/store.ts'
import { railsFrom } from './rails/view.ts'

/** What a person decides about an agent. */
type AgentSettings = Omit<AgentRow, 'orgId' | 'id' | 'version' | 'createdAt' | 'updatedAt'>

/** What holds for an agent that says nothing. */
export const AGENT_DEFAULTS: AgentSettings = {
  name: '',
  description: '',
  executor: { kind: 'echo' },
  retryPolicy: null,
  timeoutSeconds: null,
  maxConcurrent: null,
  contextWindow: null,
  defaultSession: null,
  provider: null,
  selfService: null,
}

/** An agent after a change: what the change leaves out stays, and null brings back the default. */
export function changedAgent(before: AgentSettings, change: AgentPatch): AgentSettings {
  const executor = change.executor === undefined ? before.executor : executorAfter(before.executor, change.executor)
  const base = { ...DEFAULT_RETRY_POLICY, maxRetries: usualRetries(executor) }
  return {
    name: change.name ?? before.name,
    description: change.description ?? before.description,
    executor,
    retryPolicy: after(change.retry_policy, before.retryPolicy, (policy) => keptPolicyOf(policy, base)),
    // A time limit that is not above 0 means the default of the executor.
    timeoutSeconds: after(change.timeout_seconds, before.timeoutSeconds, (limit) => (limit > 0 ? limit : null)),
    maxConcurrent: after(change.max_concurrent, before.maxConcurrent, (count) => count),
    contextWindow: after(change.context_window, before.contextWindow, (tokens) => tokens),
    defaultSession: after(change.default_session, before.defaultSession, sessionKey),
    provider: after(change.provider, before.provider, providerName),
    selfService: after(change.self_service, before.selfService, railsFrom),
  }
}

const after = <Given, Kept>(
  given: Given | null | undefined,
  before: Kept | null,
  keep: (given: Given) => Kept | null,
): Kept | null => (given === undefined ? before : given === null ? null : keep(given))

/** An executor with its defaults. A header that is shown hidden is what it was, if that is still sent to the same place. */
function executorAfter(before: AgentExecutor, given: NonNullable<AgentPatch['executor']>): AgentExecutor {
  const read = parseExecutor('executor', given, { executor: before, reach: 'origin' })
  if (!read.ok) throw invalid(read.flaws)
  return read.value
}

/** How often what fails is repeated unless the agent says otherwise. */
export const usualRetries = (executor: AgentExecutor): number =>
  defaultMaxRetries({ trigger: 'message', executorKind: executor.kind, inlineExecutor: false })

/** A new agent as it is kept. */
export function newAgent(
  { id, ...settings }: AgentInput,
  { orgId, now, newId }: { readonly orgId: OrgId; readonly now: Instant; readonly newId: () => string },
): AgentRow {
  const made = { orgId, id: agentId(id ?? newId()), version: 1, createdAt: now, updatedAt: now }
  return { ...changedAgent(AGENT_DEFAULTS, settings), ...made }
}
