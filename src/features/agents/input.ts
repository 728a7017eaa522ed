import { invalid } from '../../api/refusals.ts'
import { agentId, type OrgId, type ProviderName, providerName, type ScheduleId, sessionKey } from '../../domain/ids.ts'
import { parseObject } from '../../domain/input-fields.ts'
import type { Instant } from '../../domain/instant.ts'
import { DEFAULT_RETRY_POLICY, storedPolicyOf } from '../../domain/run/retry-policy.ts'
import { defaultMaxRetries } from '../../domain/run/retry.ts'
import type { Ports } from '../../engine/ports.ts'
import type { ExecutorSpec } from '../../executors/kind.ts'
import { EXECUTORS } from '../../executors/kinds.ts'
import { parseExecutor } from '../../executors/parse-executor.ts'
import { restrictionsFrom } from '../access/restrictions.ts'
import type { AgentInput, AgentPatch } from './schema.ts'
import { type AgentExecutor, type AgentRow, loadAgents } from './store.ts'
import { loadProviders } from '../providers/store.ts'
import { loadSchedules } from '../schedules/store.ts'
import type { Connection } from '../../platform/db/database.ts'

/** Whether the input sets an executor whose URL has to be checked. */
export const setsExecutor = (input: { readonly executor?: unknown } | null | undefined): boolean =>
  typeof input === 'object' && input !== null && input.executor !== undefined && input.executor !== null

/** Refuses an agent whose URL the outbound guard blocks. An allowed URL is checked again with every call. */
export async function checkExecutorUrl(
  ports: Pick<Ports, 'outbound'>,
  { executor }: { readonly executor?: unknown },
): Promise<void> {
  const given = parseObject('executor', executor)
  const options = given.ok ? given.value : {}
  const spec = EXECUTORS.find(({ kind }) => kind === String(options['kind']).toLowerCase())
  const address = spec?.address?.(options) ?? null
  // Invalid options are reported in the transaction, together with all other errors.
  if (address === null) return
  const message = await ports.outbound.check(address.url, 'agent')
  const { option } = address
  if (message !== null) throw invalid([{ field: `executor.${option}`, value: options[option] ?? null, message }])
}

/** The settings of an agent that its executor needs. */
interface AgentExecutorOptions<Options> {
  readonly options: Options
  readonly contextWindow: number | null
}

/** The executor options of an agent; null if it has no executor of this kind any more. */
export async function findAgent<Options>(
  ports: Pick<Ports, 'database'>,
  spec: ExecutorSpec<string, Options>,
  { orgId, agentId: id }: { readonly orgId: OrgId; readonly agentId: string },
): Promise<AgentExecutorOptions<Options> | null> {
  const [row] = await loadAgents(ports.database, { orgId, ids: [agentId(id)] })
  return row === undefined ? null : readAgent(spec, row.executor, row.contextWindow)
}

/** The executor options of a schedule with an inline executor; null if there is no such schedule any more. */
export async function findInlineAgent<Options>(
  ports: Pick<Ports, 'database'>,
  spec: ExecutorSpec<string, Options>,
  { orgId, scheduleId }: { readonly orgId: OrgId; readonly scheduleId: ScheduleId | null },
): Promise<AgentExecutorOptions<Options> | null> {
  const [row] = scheduleId === null ? [] : await loadSchedules(ports.database, { orgId, ids: [scheduleId] })
  return readAgent(spec, row?.input['executor'] as AgentExecutor | undefined, null)
}

function readAgent<Options>(
  { kind, parse }: ExecutorSpec<string, Options>,
  executor: AgentExecutor | undefined,
  contextWindow: number | null,
): AgentExecutorOptions<Options> | null {
  const read = executor?.kind === kind ? parse('executor', executor) : null
  return read?.ok === true ? { options: read.value, contextWindow } : null
}

/** Refuses an agent whose provider does not exist, because its calls would not be counted. */
export async function requireProvider(
  connection: Connection,
  agent: { readonly orgId: OrgId; readonly provider: ProviderName | null },
): Promise<void> {
  const { orgId, provider } = agent
  if (provider === null) return
  const names = (await loadProviders(connection, { orgId })).map(({ name }) => name)
  if (names.includes(provider)) return
  const allowed = names.length === 0 ? 'null, because there are no providers yet' : names.slice(0, 20).join(', ')
  throw invalid([{ field: 'provider', value: provider, message: 'is not a provider of the org', allowed }])
}

/** The settings of an agent that a user can change. */
type AgentSettings = Omit<AgentRow, 'orgId' | 'id' | 'version' | 'createdAt' | 'updatedAt'>

/** The defaults of agent settings. */
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

/** The settings of an agent after a change: omitted fields stay, and null restores the default. */
export function changedAgent(before: AgentSettings, change: AgentPatch): AgentSettings {
  const executor = change.executor === undefined ? before.executor : executorAfter(before.executor, change.executor)
  const base = { ...DEFAULT_RETRY_POLICY, maxRetries: defaultRetriesOf(executor) }
  return {
    name: change.name ?? before.name,
    description: change.description ?? before.description,
    executor,
    retryPolicy: patchedValue(change.retry_policy, before.retryPolicy, (policy) => storedPolicyOf(policy, base)),
    // A time limit of 0 or less means the default of the executor.
    timeoutSeconds: patchedValue(change.timeout_seconds, before.timeoutSeconds, (limit) => (limit > 0 ? limit : null)),
    maxConcurrent: patchedValue(change.max_concurrent, before.maxConcurrent, (count) => count),
    contextWindow: patchedValue(change.context_window, before.contextWindow, (tokens) => tokens),
    defaultSession: patchedValue(change.default_session, before.defaultSession, sessionKey),
    provider: patchedValue(change.provider, before.provider, providerName),
    selfService: patchedValue(change.self_service, before.selfService, restrictionsFrom),
  }
}

const patchedValue = <Given, Kept>(
  given: Given | null | undefined,
  before: Kept | null,
  keep: (given: Given) => Kept | null,
): Kept | null => (given === undefined ? before : given === null ? null : keep(given))

/** An executor with its defaults. A masked header keeps its value if it is still sent to the same origin. */
function executorAfter(before: AgentExecutor, given: NonNullable<AgentPatch['executor']>): AgentExecutor {
  const read = parseExecutor('executor', given, { executor: before, reach: 'origin' })
  if (!read.ok) throw invalid(read.flaws)
  return read.value
}

/** The default number of retries of an agent with this executor. */
export const defaultRetriesOf = (executor: AgentExecutor): number =>
  defaultMaxRetries({ trigger: 'message', executorKind: executor.kind, inlineExecutor: false })

/** The row of a new agent. */
export function newAgent(
  { id, ...settings }: AgentInput,
  { orgId, now, newId }: { readonly orgId: OrgId; readonly now: Instant; readonly newId: () => string },
): AgentRow {
  const identity = { orgId, id: agentId(id ?? newId()), version: 1, createdAt: now, updatedAt: now }
  return { ...changedAgent(AGENT_DEFAULTS, settings), ...identity }
}
