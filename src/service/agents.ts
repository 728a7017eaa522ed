import type { AgentInput, AgentView } from '../contract/agent.ts'
import type { Page, PageFilter } from '../contract/page.ts'
import { invalid, Refusal } from '../contract/refusals.ts'
import { maskedExecutor } from '../core/executor/masked.ts'
import { agentId, sessionKey, type OrgId } from '../core/ids.ts'
import { flawed, orNull, parsed, parseInteger, type Flaw, type Parsed } from '../core/input.ts'
import { formatInstant, type Instant } from '../core/instant.ts'
import { defaultMaxRetries } from '../core/run/retry.ts'
import { DEFAULT_RETRY_POLICY, parseRetryPolicy, type RetryPolicy } from '../core/run/retry-policy.ts'
import {
  deleteAgent,
  insertAgents,
  listAgentPage,
  listAgents,
  loadAgents,
  saveAgent,
  type AgentExecutor,
  type AgentRow,
} from '../store/agents.ts'
import { countSchedules } from '../store/schedules.ts'
import type { Transaction } from '../store/database.ts'
import { judgeExecutor, parseExecutor } from './agent-executor.ts'
import { actorOf, changed, created, deleted } from './audit-entry.ts'
import type { Caller } from './caller.ts'
import { judgeCommand } from './command-agents.ts'
import { parseIdCursor, parseLimit, writeCursorParts } from './cursor.ts'
import type { Desk } from './desk/desk.ts'
import { collectFlaws, parseObject, parseSessionKey, textField, unknownFields, type Given } from './input-fields.ts'
import { bound } from './idempotent.ts'
import type { Ports } from './ports.ts'
import { parseProviderName, requireProvider } from './providers-input.ts'
import { parseTimeout } from './schedule-input.ts'
import { viewRetryPolicy } from './schedule-view.ts'
import type { Asked } from './schedules.ts'
import { judgeSecrets } from './secret-use.ts'
import { executorKeyOf } from './turn/recall.ts'
import type { Work } from './turn-port.ts'

const FIELDS = [
  ...['id', 'name', 'description', 'executor', 'retry_policy', 'timeout_seconds', 'max_concurrent'],
  ...['context_window', 'default_session', 'provider'],
]

/** What a person decides about an agent. */
type ReadAgent = Pick<
  AgentRow,
  | 'name'
  | 'description'
  | 'executor'
  | 'retryPolicy'
  | 'timeoutSeconds'
  | 'maxConcurrent'
  | 'contextWindow'
  | 'defaultSession'
  | 'provider'
>

/** Reads a new agent, or a change of one: what a change leaves out stays. */
export function parseAgent(value: unknown, existing: AgentRow | null): Parsed<ReadAgent> {
  const object = parseObject('agent', value)
  if (!object.ok) return object
  const given = object.value
  const { flaws, keep } = collectFlaws()
  flaws.push(...unknownFields('', given, FIELDS))
  const field = <T>(name: string, parse: (field: string, value: unknown) => Parsed<T>, otherwise: T): T =>
    given[name] === undefined ? otherwise : (keep(parse(name, given[name])) ?? otherwise)
  // Null is a value here, and `keep` answers null for a flaw: both leave nothing behind.
  const nullable = <T>(name: string, parse: (field: string, value: unknown) => Parsed<T>, otherwise: T | null) =>
    given[name] === undefined ? otherwise : keep(orNull(parse)(name, given[name]))
  flaws.push(...missing(given, existing))
  const executor = field(
    'executor',
    (name, given) => parseExecutor(name, given, existing?.executor),
    existing?.executor ?? { kind: 'echo' },
  )
  const base = { ...DEFAULT_RETRY_POLICY, maxRetries: usualRetries(executor) }
  const read: ReadAgent = {
    name: field('name', textField({ min: 1, max: 200 }), existing?.name ?? ''),
    description: field('description', textField({ min: 0, max: 10_000 }), existing?.description ?? ''),
    executor,
    retryPolicy: nullable<RetryPolicy>(
      'retry_policy',
      (name, policy) => parseRetryPolicy(name, policy, base),
      existing?.retryPolicy ?? null,
    ),
    timeoutSeconds: nullable<number | null>('timeout_seconds', parseTimeout, existing?.timeoutSeconds ?? null),
    maxConcurrent: nullable('max_concurrent', atLeastOne(1_000_000), existing?.maxConcurrent ?? null),
    contextWindow: nullable('context_window', atLeastOne(2_000_000_000), existing?.contextWindow ?? null),
    defaultSession: nullable('default_session', parseKey, existing?.defaultSession ?? null),
    provider: nullable('provider', parseProviderName, existing?.provider ?? null),
  }
  return flaws.length > 0 ? flawed(...flaws) : parsed(read)
}

function missing(given: Given, existing: AgentRow | null): readonly Flaw[] {
  if (existing !== null) return []
  return ['name', 'executor']
    .filter((name) => given[name] === undefined)
    .map((name) => ({ field: name, value: undefined, message: 'is missing' }))
}

const usualRetries = (executor: AgentExecutor): number =>
  defaultMaxRetries({ trigger: 'message', executorKind: executor.kind, inlineExecutor: false })

const atLeastOne = (max: number) => (field: string, value: unknown) => parseInteger(field, value, { min: 1, max })

function parseKey(field: string, value: unknown): Parsed<NonNullable<AgentRow['defaultSession']>> {
  const key = parseSessionKey(field, value)
  return key.ok ? parsed(sessionKey(key.value)) : key
}

/** Ids are named in session keys and in paths: letters, digits and a few signs that mean nothing there. */
const AGENT_ID = /^[\p{L}\p{N}][\p{L}\p{N}._@-]{0,199}$/u

function parseAgentId(field: string, value: unknown): Parsed<string> {
  return typeof value === 'string' && AGENT_ID.test(value)
    ? parsed(value)
    : flawed({ field, value, message: 'cannot be an id', allowed: '1 to 200 letters, digits, . _ @ -' })
}

const noAgent = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no agent ${id}`)

/** Makes an agent. Its id is made too unless it brings one. */
export async function createAgent(ports: Ports, caller: Caller, input: AgentInput): Promise<AgentView> {
  const { orgId } = caller
  judgeCommand(ports, caller, input)
  await judgeExecutor(ports, input)
  const work: Work<AgentView> = {
    orgId,
    prepare: async (tx, now) => {
      const made = newAgent(input, { orgId, now, newId: () => ports.newId('agent', now) })
      const wrong = await judgeSecrets(tx, caller, { executor: made.executor, before: null })
      if (wrong.length > 0) throw invalid(wrong)
      await requireProvider(tx, made)
      const [inserted] = await insertAgents(tx, [made])
      if (inserted === undefined) throw new Refusal('CONFLICT', `There is an agent ${made.id} already`)
      return made
    },
    apply: (desk, prepared) => {
      const view = remember(desk, prepared as AgentRow, 'created')
      desk.changes.audits.push(created(actorOf(caller), { kind: 'agent', id: view.id }, view))
      return view
    },
  }
  return ports.turns.take(bound(work, caller))
}

function newAgent(
  input: AgentInput,
  made: { readonly orgId: OrgId; readonly now: Instant; readonly newId: () => string },
): AgentRow {
  const { flaws, keep } = collectFlaws()
  const read = keep(parseAgent(input, null))
  const id = isObject(input) && input.id !== undefined ? keep(parseAgentId('id', input.id)) : made.newId()
  if (read === null || id === null || flaws.length > 0) throw invalid(flaws)
  const { orgId, now } = made
  return { ...read, orgId, id: agentId(id), version: 1, createdAt: now, updatedAt: now }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** The agent. */
export async function getAgent(ports: Ports, { orgId }: Caller, id: string): Promise<AgentView> {
  const [row] = await loadAgents(ports.database, { orgId, ids: [agentId(id)] })
  if (row === undefined) throw noAgent(id)
  return viewAgent(row)
}

/** All agents of the org, by id. */
export async function findAgents(ports: Ports, { orgId }: Caller): Promise<readonly AgentView[]> {
  return (await listAgents(ports.database, { orgId })).map(viewAgent)
}

/** A page of the org's agents, by id. */
export async function findAgentPage(
  ports: Pick<Ports, 'database'>,
  { orgId }: Caller,
  filter: PageFilter = {},
): Promise<Page<AgentView>> {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const after = keep(parseIdCursor('cursor', filter.cursor))
  if (flaws.length > 0) throw invalid(flaws)
  const found = await listAgentPage(ports.database, { orgId, after: agentId(after ?? ''), limit: limit + 1 })
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  const next = found.length > limit && last !== undefined ? writeCursorParts([last.id]) : null
  return { items: shown.map(viewAgent), next_cursor: next }
}

/** Changes an agent. Runs that are pending keep the limits they were made with. */
export async function changeAgent(
  ports: Ports,
  caller: Caller,
  asked: Asked & { readonly change: Partial<AgentInput> },
): Promise<AgentView> {
  const { orgId } = caller
  judgeCommand(ports, caller, asked.change)
  await judgeExecutor(ports, asked.change)
  return ports.turns.take({
    orgId,
    prepare: async (tx, now): Promise<readonly [AgentRow, AgentRow]> => {
      const found = await agentAsked(tx, orgId, asked)
      const read = parseAgent(asked.change, found)
      if (!read.ok) throw invalid(read.flaws)
      if (asked.change.id !== undefined && asked.change.id !== found.id)
        throw invalid([{ field: 'id', value: asked.change.id, message: 'never changes', allowed: found.id }])
      const wrong = await judgeSecrets(tx, caller, { executor: read.value.executor, before: found.executor })
      if (wrong.length > 0) throw invalid(wrong)
      await requireProvider(tx, { orgId, provider: read.value.provider })
      await saveAgent(tx, { ...found, ...read.value, updatedAt: now })
      return [found, { ...found, ...read.value, updatedAt: now, version: found.version + 1 }]
    },
    apply: (desk, prepared) => {
      const [before, after] = prepared as readonly [AgentRow, AgentRow]
      const view = remember(desk, after, 'updated')
      const views = { before: viewAgent(before), after: view }
      desk.changes.audits.push(changed(actorOf(caller), { kind: 'agent', id: view.id }, views))
      return view
    },
  })
}

/** The agent somebody wants to change, if it is still what they saw. */
async function agentAsked(tx: Transaction, orgId: OrgId, { id, version }: Asked): Promise<AgentRow> {
  const [found] = await loadAgents(tx, { orgId, ids: [agentId(id)] })
  if (found === undefined) throw noAgent(id)
  if (version === undefined || version === found.version) return found
  throw new Refusal('STALE_VERSION', `Agent ${found.id} is at version ${found.version}`, {
    details: { version: found.version },
  })
}

/** Deletes an agent that no schedule wakes. Its runs stay. */
export async function removeAgent(ports: Ports, caller: Caller, asked: Asked): Promise<void> {
  const { orgId } = caller
  const { id } = asked
  await ports.turns.take({
    orgId,
    prepare: async (tx) => {
      const found = await agentAsked(tx, orgId, asked)
      const schedules = await countSchedules(tx, { orgId, agentId: agentId(id) })
      if (schedules > 0)
        throw new Refusal('CONFLICT', `Agent ${id} is woken by ${schedules} schedules`, { details: { schedules } })
      await deleteAgent(tx, { orgId, id: agentId(id) })
      return found
    },
    apply: (desk, prepared) => {
      // Pending runs of it go on with what is remembered of it.
      const isNeeded = [...desk.runs.values()].some((run) => run.agentId === id)
      if (!isNeeded) desk.agents.delete(agentId(id))
      desk.changes.events.push({ kind: 'agent.changed', subject: id, data: { change: 'deleted' } })
      const before = viewAgent(prepared as AgentRow)
      desk.changes.audits.push(deleted(actorOf(caller), { kind: 'agent', id }, before))
    },
  })
}

function remember(desk: Desk, row: AgentRow, change: string): AgentView {
  const { id, executor, retryPolicy, timeoutSeconds, maxConcurrent, provider } = row
  if (desk.agents.has(id))
    desk.agents.set(id, {
      ...{ id, retryPolicy, timeoutSeconds, maxConcurrent, provider },
      executorKey: executorKeyOf(row),
      executorKind: executor.kind,
    })
  desk.changes.events.push({ kind: 'agent.changed', subject: id, data: { change } })
  return viewAgent(row)
}

/** An agent as every surface shows it. */
export const viewAgent = (row: AgentRow): AgentView => ({
  id: row.id,
  org_id: row.orgId,
  name: row.name,
  description: row.description,
  executor: maskedExecutor(row.executor),
  retry_policy: row.retryPolicy === null ? null : viewRetryPolicy(row.retryPolicy),
  timeout_seconds: row.timeoutSeconds,
  max_concurrent: row.maxConcurrent,
  context_window: row.contextWindow,
  default_session: row.defaultSession,
  provider: row.provider,
  version: row.version,
  created_at: formatInstant(row.createdAt),
  updated_at: formatInstant(row.updatedAt),
})
