import { RETRY_STRATEGIES } from '../../../src/domain/run/retry-policy.ts'
import type { FieldSpec, FormValues } from '../../forms/field.ts'
import { railFields } from '../../forms/restriction-fields.ts'
import { executorFields, KINDS } from './executor-fields.ts'

const NAME: FieldSpec = { path: 'name', label: 'agents.name', kind: 'text', isRequired: true }
const DESCRIPTION: FieldSpec = { path: 'description', label: 'agents.description', kind: 'text' }
const KIND: FieldSpec = {
  ...{ path: 'executor.kind', label: 'agents.kind', kind: 'choice', isRequired: true },
  choices: KINDS,
}

const LIMITS: readonly FieldSpec[] = [
  {
    ...{ path: 'max_concurrent', label: 'agents.maxConcurrent', kind: 'number' },
    ...{ hint: 'agents.maxConcurrentHint', whenEmpty: 'null' },
  },
  {
    ...{ path: 'timeout_seconds', label: 'agents.timeout', kind: 'number' },
    ...{ hint: 'agents.timeoutHint', whenEmpty: 'null' },
  },
  {
    ...{ path: 'provider', label: 'agents.provider', kind: 'code', whenEmpty: 'null' },
    ...{ hint: 'agents.providerHint', example: 'openai' },
  },
  { path: 'context_window', label: 'agents.contextWindow', kind: 'number', whenEmpty: 'null' },
  { path: 'default_session', label: 'agents.defaultSession', kind: 'code', whenEmpty: 'null', example: 'main' },
  { path: 'retry_policy.max_retries', label: 'agents.maxRetries', kind: 'number', hint: 'agents.maxRetriesHint' },
  {
    ...{ path: 'retry_policy.strategy', label: 'agents.strategy', kind: 'choice' },
    choices: RETRY_STRATEGIES.map((value) => ({ value, label: `agents.strategy.${value}` as const })),
  },
]

const WAITS: readonly FieldSpec[] = [
  { path: 'retry_policy.base_ms', label: 'agents.baseMs', kind: 'number' },
  { path: 'retry_policy.max_ms', label: 'agents.maxMs', kind: 'number' },
  { path: 'retry_policy.jitter', label: 'agents.jitter', kind: 'number', hint: 'agents.jitterHint' },
]
const LADDER: FieldSpec = {
  ...{ path: 'retry_policy.ladder_seconds', label: 'agents.ladder', kind: 'numbers', example: '30 60 300 900' },
}
const ID: FieldSpec = { path: 'id', label: 'agents.id', kind: 'code', hint: 'agents.idHint', example: 'writer' }

/** What nearly every agent of a kind is given, besides what it needs. */
const USUALLY_GIVEN: ReadonlySet<string> = new Set(['executor.api_key', 'executor.system_prompt', 'executor.args'])

const isUsual = ({ path, isRequired }: FieldSpec): boolean => isRequired === true || USUALLY_GIVEN.has(path)

/**
 * The fields of an agent: first what its kind of executor needs, then the rest, folded. Only a new one may be given an
 * id, and a new one is typed a key that becomes a secret.
 */
export const agentFields =
  (isNew: boolean) =>
  (values: FormValues): readonly FieldSpec[] => {
    const strategy = values['retry_policy.strategy']
    const options = executorFields(values['executor.kind']).map((spec) =>
      isNew && spec.path === 'executor.api_key' ? { ...spec, ...TYPED_KEY } : spec,
    )
    const rest = [
      DESCRIPTION,
      ...(isNew ? [ID] : []),
      ...options.filter((spec) => !isUsual(spec)),
      ...LIMITS,
      ...(strategy === 'ladder' ? [LADDER] : strategy === undefined || strategy === '' ? [] : WAITS),
      ...railFields('self_service', values),
    ]
    return [
      NAME,
      ...(isNew ? [] : [KIND]),
      ...options.filter(isUsual),
      ...rest.map((spec) => ({ ...spec, isFolded: true })),
    ]
  }

const TYPED_KEY = { kind: 'secret', hint: 'agents.keyHint', example: 'sk-…' } as const
