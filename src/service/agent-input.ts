import type { AgentInput } from '../contract/agent.ts'
import { invalid } from '../contract/refusals.ts'
import { addAll } from '../core/long-lists.ts'
import { agentId, sessionKey, type OrgId } from '../core/ids.ts'
import { flawed, orNull, parsed, parseInteger, type Flaw, type Parsed } from '../core/input.ts'
import type { Instant } from '../core/instant.ts'
import { guardRailsInput } from '../contract/guard-rails.ts'
import { readShape } from '../contract/read-shape.ts'
import { defaultMaxRetries } from '../core/run/retry.ts'
import { DEFAULT_RETRY_POLICY, parseKeptPolicy, type RetryPolicy } from '../core/run/retry-policy.ts'
import type { AgentExecutor, AgentRow } from '../store/agents.ts'
import { parseExecutor } from './agent-executor.ts'
import {
  collectFlaws,
  parseObject,
  parseSessionKey,
  textField,
  unknownFields,
  type Given,
} from '../core/input-fields.ts'
import { parseProviderName } from '../core/quota/provider-name.ts'
import { parseTimeout } from './schedule-input.ts'
import { railsOf } from './rails/view.ts'

/** Every name that an agent may be given by. */
export const AGENT_FIELDS = [
  ...['id', 'name', 'description', 'executor', 'retry_policy', 'timeout_seconds', 'max_concurrent'],
  ...['context_window', 'default_session', 'provider', 'self_service'],
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
  | 'selfService'
>

/** Reads a new agent, or a change of one: what a change leaves out stays. */
export function parseAgent(value: unknown, existing: AgentRow | null): Parsed<ReadAgent> {
  const object = parseObject('agent', value)
  if (!object.ok) return object
  const given = object.value
  const { flaws, keep } = collectFlaws()
  addAll(flaws, unknownFields('', given, AGENT_FIELDS))
  const field = <T>(name: string, parse: (field: string, value: unknown) => Parsed<T>, otherwise: T): T =>
    given[name] === undefined ? otherwise : (keep(parse(name, given[name])) ?? otherwise)
  // Null is a value here, and `keep` answers null for a flaw: both leave nothing behind.
  const nullable = <T>(name: string, parse: (field: string, value: unknown) => Parsed<T>, otherwise: T | null) =>
    given[name] === undefined ? otherwise : keep(orNull(parse)(name, given[name]))
  addAll(flaws, missing(given, existing))
  const executor = field(
    'executor',
    (name, given) => parseExecutor(name, given, { executor: existing?.executor, reach: 'origin' }),
    existing?.executor ?? { kind: 'echo' },
  )
  const base = { ...DEFAULT_RETRY_POLICY, maxRetries: usualRetries(executor) }
  const read: ReadAgent = {
    name: field('name', textField({ min: 1, max: 200 }), existing?.name ?? ''),
    description: field('description', textField({ min: 0, max: 10_000 }), existing?.description ?? ''),
    executor,
    retryPolicy: nullable<RetryPolicy>(
      'retry_policy',
      (name, policy) => parseKeptPolicy(name, policy, base),
      existing?.retryPolicy ?? null,
    ),
    timeoutSeconds: nullable<number | null>('timeout_seconds', parseTimeout, existing?.timeoutSeconds ?? null),
    maxConcurrent: nullable('max_concurrent', atLeastOne(1_000_000), existing?.maxConcurrent ?? null),
    contextWindow: nullable('context_window', atLeastOne(2_000_000_000), existing?.contextWindow ?? null),
    defaultSession: nullable('default_session', parseKey, existing?.defaultSession ?? null),
    provider: nullable('provider', parseProviderName, existing?.provider ?? null),
    selfService: nullable('self_service', parseRails, existing?.selfService ?? null),
  }
  return flaws.length > 0 ? flawed(flaws) : parsed(read)
}

function missing(given: Given, existing: AgentRow | null): readonly Flaw[] {
  if (existing !== null) return []
  return ['name', 'executor']
    .filter((name) => given[name] === undefined)
    .map((name) => ({ field: name, value: undefined, message: 'is missing' }))
}

/** How often what fails is repeated unless the agent says otherwise. */
export const usualRetries = (executor: AgentExecutor): number =>
  defaultMaxRetries({ trigger: 'message', executorKind: executor.kind, inlineExecutor: false })

const atLeastOne = (max: number) => (field: string, value: unknown) => parseInteger(field, value, { min: 1, max })

function parseKey(field: string, value: unknown): Parsed<NonNullable<AgentRow['defaultSession']>> {
  const key = parseSessionKey(field, value)
  return key.ok ? parsed(sessionKey(key.value)) : key
}

function parseRails(field: string, value: unknown): Parsed<NonNullable<AgentRow['selfService']>> {
  const read = readShape(guardRailsInput, value, field)
  return read.ok ? parsed(railsOf(read.value)) : read
}

/** Ids are named in session keys and in paths: letters, digits and a few signs that mean nothing there. */
const AGENT_ID = /^[\p{L}\p{N}][\p{L}\p{N}._@-]{0,199}$/u

function parseAgentId(field: string, value: unknown): Parsed<string> {
  return typeof value === 'string' && AGENT_ID.test(value)
    ? parsed(value)
    : flawed({ field, value, message: 'cannot be an id', allowed: '1 to 200 letters, digits, . _ @ -' })
}

/** A new agent as it is kept. Refused with every flaw. */
export function newAgent(
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
