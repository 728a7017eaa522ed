import type { TaskInput } from '../contract/task.ts'
import { flawed, integerField, parsed, parseFields, type Flaw, type Parsed } from '../core/input.ts'
import { parseInstant, type Instant } from '../core/instant.ts'
import { NO_RETRIES } from '../core/run/retry.ts'
import { parseRetryPolicy, type RetryPolicy } from '../core/run/retry-policy.ts'
import { parseJson, parseObject, textField, type Given } from '../core/input-fields.ts'

const optionalText = textField({ min: 0, max: 10_000 })

const FIELDS = {
  agentId: textField({ min: 1, max: 512 }),
  action: textField({ min: 1, max: 512 }),
  tabId: optionalText,
  selector: optionalText,
  ref: optionalText,
  params: parseParams,
  priority: integerField({ min: -2_147_483_648, max: 2_147_483_647 }),
  deadline: parseInstant,
  callbackUrl: optionalText,
  retry_policy: (field: string, value: unknown) => parseRetryPolicy(field, value, NO_RETRIES),
} satisfies Readonly<Record<keyof TaskInput, unknown>>

function parseParams(field: string, value: unknown): Parsed<unknown> {
  const object = parseObject(field, value)
  return object.ok ? parseJson(field, object.value) : object
}

/** A task that can be handed in. */
export interface ReadTask {
  readonly agentId: string
  /** What its executor is given. */
  readonly content: Readonly<Record<string, unknown>>
  readonly priority: number
  readonly deadline: Instant | null
  readonly retryPolicy: RetryPolicy | null
  readonly callbackUrl: string | null
}

/** Where a task stands in what was sent, and when it was. */
export interface TaskPlace {
  /** Empty, or `tasks.3` for one of a batch. */
  readonly at: string
  readonly now: Instant
}

/** Reads a task. What nobody knows is passed over, and null and empty texts say nothing: clients of the façade do so. */
export function readTask(value: unknown, { at, now }: TaskPlace): Parsed<ReadTask> {
  const object = parseObject(at, value)
  if (!object.ok) return object
  const given = saidIn(object.value)
  const read = parseFields(at, given, FIELDS)
  const missing = (['agentId', 'action'] as const)
    .filter((name) => given[name] === undefined)
    .map((name): Flaw => ({ field: fieldAt(at, name), value: undefined, message: 'is missing' }))
  if (!read.ok) return flawed([...read.flaws, ...missing])
  const { agentId = '', priority = 0, deadline = null, retry_policy: retryPolicy = null, ...content } = read.value
  if (deadline !== null && deadline <= now)
    missing.push({
      ...{ field: fieldAt(at, 'deadline'), value: given['deadline'], message: 'is in the past' },
      allowed: 'a later time',
    })
  if (missing.length > 0) return flawed(missing)
  const callbackUrl = content.callbackUrl ?? null
  return parsed({ agentId, content: { agentId, ...content }, priority, deadline, retryPolicy, callbackUrl })
}

/** The name of a field as it is told. */
export const fieldAt = (at: string, name: string): string => (at === '' ? name : `${at}.${name}`)

function saidIn(given: Given): Given {
  const said: Record<string, unknown> = {}
  for (const name of Object.keys(FIELDS)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    const isSilent = value === null || (typeof value === 'string' && value.trim() === '')
    if (value !== undefined && !isSilent) said[name] = value
  }
  return said
}
