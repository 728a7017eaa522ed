import { valueAtPointer } from '../json.ts'
import { UNARY_OPERATORS, type Comparison, type Condition, type Operator } from './condition.ts'
import type { CommandProbe, HttpProbe, Probe } from './probe.ts'

/** A short description of what a probe checks, without possible credentials. */
export function probeTargetText(probe: Probe): string {
  switch (probe.kind) {
    case 'http':
      return `${probe.method} ${withoutQuery(probe.url)}`
    case 'command':
      return probe.program
    case 'state': {
      const { scheduleId, session } = probe.of
      const named = [scheduleId, session].filter((one) => one !== null)
      return named.length === 0 ? 'stored state' : `the stored state of ${named.join(' and ')}`
    }
  }
}

/** A query may contain a key. */
function withoutQuery(text: string): string {
  const url = new URL(text)
  return `${url.origin}${url.pathname}${url.search === '' ? '' : '?…'}`
}

/** A probe as a sentence. */
export function describeProbe(probe: Probe): string {
  const parts = [defaultConditionText(probe)]
  if (probe.when !== null) parts.push(describeCondition(probe.when))
  if (probe.changed !== null) parts.push(`${probe.changed === true ? 'the answer' : probe.changed} has changed`)
  const when = parts.filter((part) => part !== '').join(', and ')
  const error = probe.onError === 'run' ? 'the agent runs anyway' : 'the attempt fails'
  return `Checks ${probeTargetText(probe)} first and runs the agent only if ${when}. If the check fails, ${error}.`
}

/** The default condition of a probe without conditions of its own. */
function defaultConditionText(probe: Probe): string {
  if (probe.kind === 'command') return 'it exits with code 0'
  if (probe.kind === 'state' || probe.when !== null) return ''
  if (probe.method === 'HEAD') return probe.changed === null ? 'it answers with success' : ''
  return probe.changed === null ? 'the answer is not empty' : ''
}

/** The answers of a probe. */
export const PROBE_ANSWERS = ['yes', 'no', 'error'] as const
export type ProbeAnswer = (typeof PROBE_ANSWERS)[number]

/** The result of a check before conditions are applied. */
export type ProbeResult =
  /** A value: JSON or text, with a validator such as an ETag where there is no content to compare. */
  | { readonly kind: 'seen'; readonly value: unknown; readonly how: string; readonly mark: string | null }
  /** An empty answer, or exit code 1. */
  | { readonly kind: 'nothing'; readonly how: string }
  | { readonly kind: 'failed'; readonly message: string }

/** The answer of a probe, a sentence for people, and the fingerprint for detecting changes. */
export interface ProbeDecision {
  readonly answer: ProbeAnswer
  readonly sentence: string
  /** The checked value, shortened, for people. */
  readonly seen: string
  /** Null when the probe has no `changed` or there was no value. */
  readonly fingerprint: string | null
}

const MAX_SEEN_LENGTH = 500

const shortenValue = (value: unknown): string => {
  const text = typeof value === 'string' ? value : ((JSON.stringify(value) as string | undefined) ?? '')
  return text.length > MAX_SEEN_LENGTH ? `${text.slice(0, MAX_SEEN_LENGTH)}…` : text
}

/**
 * Applies a probe's conditions to its result. `before` is the fingerprint of the last check whose run succeeded, null
 * if there was none; `digest` hashes a text.
 */
export function decideProbe(
  probe: Probe,
  probed: ProbeResult,
  { before, digest }: { readonly before: string | null; readonly digest: (text: string) => string },
): ProbeDecision {
  if (probed.kind === 'failed') return { answer: 'error', sentence: probed.message, seen: '', fingerprint: null }
  if (probed.kind === 'nothing') return { answer: 'no', sentence: probed.how, seen: '', fingerprint: null }
  const { value, how, mark } = probed
  const seen = shortenValue(value)
  const checked = probe.when === null ? { holds: true, sentence: how } : checkCondition(probe.when, value)
  if (!checked.holds) return { answer: 'no', sentence: checked.sentence, seen, fingerprint: null }
  if (probe.changed === null) return { answer: 'yes', sentence: checked.sentence, seen, fingerprint: null }
  const compared = mark ?? canonical(typeof probe.changed === 'string' ? valueAtPointer(value, probe.changed) : value)
  const fingerprint = digest(compared)
  const subject = typeof probe.changed === 'string' ? probe.changed : 'the answer'
  if (before === fingerprint)
    return { answer: 'no', sentence: `${subject} has not changed since the last check`, seen, fingerprint }
  const since = before === null ? 'was not checked before' : 'has changed since the last check'
  return { answer: 'yes', sentence: `${subject} ${since}`, seen, fingerprint }
}

/** Serializes JSON independently of the order of names. */
function canonical(value: unknown): string {
  if (value === undefined) return 'missing'
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, one]) => `${JSON.stringify(name)}:${canonical(one)}`).join(',')}}`
}

/** Parses a text as JSON if it is JSON. */
export function parseProbeAnswer(text: string): unknown {
  if (isDeep(text)) return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** Deeper values are treated as text, because comparing them would overflow the stack. */
const MAX_PARSED_DEPTH = 200

function isDeep(text: string): boolean {
  let depth = 0
  let isQuoted = false
  for (let index = 0; index < text.length; index += 1) {
    const sign = text[index]
    if (isQuoted) {
      if (sign === '\\') index += 1
      else if (sign === '"') isQuoted = false
    } else if (sign === '"') isQuoted = true
    else if (sign === '[' || sign === '{') depth += 1
    else if (sign === ']' || sign === '}') depth -= 1
    if (depth > MAX_PARSED_DEPTH) return true
  }
  return false
}

/** Performs the check of an http or command probe. It never throws. */
export type ProbeRunner = (probe: HttpProbe | CommandProbe, signal: AbortSignal) => Promise<ProbeResult>

/** The stored record of one check. */
export interface ProbeRecord {
  /** The schedule or heartbeat that the probe belongs to. */
  readonly subject: string
  readonly answer: ProbeAnswer
  /** A short description of what was checked. */
  readonly asked: string
  readonly sentence: string
  readonly seen: string
  /** The fingerprint of the last check whose run succeeded. */
  readonly seenMark: string | null
  /** The fingerprint of this check; null when there is none or the agent does not run. */
  readonly wokenMark: string | null
}

/** The fraction of checks after which the agent ran; undefined before the first check. */
export const startedFraction = (
  counts: { readonly asked: number; readonly saved: number } | undefined,
): number | undefined => (counts === undefined || counts.asked === 0 ? undefined : 1 - counts.saved / counts.asked)

/** The subject under which a heartbeat's probe is counted; a schedule's probe uses the schedule's id. */
export const heartbeatSubject = (agentId: string): string => `heartbeat:${agentId}`

/** Whether a condition holds, and a sentence with the deciding comparison and the value it found. */
export interface ConditionResult {
  readonly holds: boolean
  readonly sentence: string
}

/** Checks a condition against a JSON value. Values that cannot be compared do not satisfy it. */
export function checkCondition(condition: Condition, of: unknown): ConditionResult {
  if ('not' in condition) {
    const inner = checkCondition(condition.not, of)
    return { holds: !inner.holds, sentence: inner.sentence }
  }
  if ('all' in condition) return checkList(condition.all, of, false)
  if ('any' in condition) return checkList(condition.any, of, true)
  return checkComparison(condition, valueAtPointer(of, condition.path))
}

/** Returns the first condition that decides the list, or the last one when none does. */
function checkList(list: readonly Condition[], of: unknown, deciding: boolean): ConditionResult {
  let last: ConditionResult = { holds: !deciding, sentence: 'there was nothing to compare' }
  for (const one of list) {
    last = checkCondition(one, of)
    if (last.holds === deciding) return last
  }
  return last
}

function checkComparison({ path, op, value }: Comparison, found: unknown): ConditionResult {
  const subject = path === '' ? 'the answer' : path
  const is = `${subject} is ${quotedJson(found)}`
  switch (op) {
    case 'exists':
      return { holds: found !== undefined && found !== null, sentence: is }
    case 'missing':
      return { holds: found === undefined || found === null, sentence: is }
    case 'empty':
      return { holds: isEmpty(found), sentence: is }
    case 'not_empty':
      return { holds: !isEmpty(found), sentence: is }
    case '=':
      return { holds: isEqual(found, value), sentence: is }
    case '!=':
      return { holds: !isEqual(found, value), sentence: is }
    case 'in':
      return { holds: Array.isArray(value) && value.some((one) => isEqual(found, one)), sentence: is }
    case 'contains':
      return checkContains(found, value, is)
    case 'starts_with':
    case 'ends_with':
      if (typeof found !== 'string' || typeof value !== 'string') return mismatch(is, 'not a text')
      return { holds: op === 'starts_with' ? found.startsWith(value) : found.endsWith(value), sentence: is }
    case '>':
    case '>=':
    case '<':
    case '<=':
      return checkOrder({ op, is }, found, value)
  }
}

const mismatch = (is: string, why: string): ConditionResult => ({ holds: false, sentence: `${is}, which is ${why}` })

function checkContains(found: unknown, value: unknown, is: string): ConditionResult {
  if (typeof found === 'string')
    return typeof value === 'string' ? { holds: found.includes(value), sentence: is } : mismatch(is, 'a text')
  if (Array.isArray(found)) return { holds: found.some((one) => isEqual(one, value)), sentence: is }
  return mismatch(is, 'neither a text nor a list')
}

const orderOf = <T extends number | string>(left: T, right: T): number => (left < right ? -1 : left > right ? 1 : 0)

/** Orders numbers by value and texts by character codes, which orders RFC 3339 times in UTC correctly. */
function checkOrder(
  { op, is }: { readonly op: Operator; readonly is: string },
  a: unknown,
  b: unknown,
): ConditionResult {
  const order =
    typeof a === 'number' && typeof b === 'number'
      ? orderOf(a, b)
      : typeof a === 'string' && typeof b === 'string'
        ? orderOf(a, b)
        : null
  if (order === null) return mismatch(is, `not a ${typeof b === 'number' ? 'number' : 'text'}`)
  const holds = op === '>' ? order > 0 : op === '>=' ? order >= 0 : op === '<' ? order < 0 : order <= 0
  return { holds, sentence: is }
}

type Fields = Readonly<Record<string, unknown>>

/** Null, a missing value, or a text, list or object without content. Numbers and `false` are never empty. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (typeof value === 'string') return value.trim() === ''
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** Deep equality of JSON values; the order of names does not count. */
function isEqual(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [a, b] = [one as Fields, other as Fields]
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && isEqual(a[name], b[name]))
  )
}

const MAX_SHOWN_LENGTH = 200

/** A value as JSON, shortened for a sentence. */
function quotedJson(value: unknown): string {
  const text = (value === undefined ? undefined : (JSON.stringify(value) as string | undefined)) ?? 'missing'
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text
}

/** A condition as a phrase. */
export function describeCondition(condition: Condition): string {
  if ('not' in condition) return `not (${describeCondition(condition.not)})`
  if ('all' in condition) return condition.all.map(describePart).join(' and ')
  if ('any' in condition) return condition.any.map(describePart).join(' or ')
  const { path, op, value } = condition
  const subject = path === '' ? 'the answer' : path
  return UNARY_OPERATORS.includes(op)
    ? `${subject} ${UNARY_TEXTS[op] ?? op}`
    : `${subject} ${OPERATOR_TEXTS[op] ?? op} ${quotedJson(value)}`
}

const describePart = (condition: Condition): string =>
  'path' in condition ? describeCondition(condition) : `(${describeCondition(condition)})`

const OPERATOR_TEXTS: Partial<Record<Operator, string>> = {
  '=': 'is',
  '!=': 'is not',
  in: 'is one of',
  starts_with: 'starts with',
  ends_with: 'ends with',
}
const UNARY_TEXTS: Partial<Record<Operator, string>> = {
  exists: 'exists',
  missing: 'is missing',
  empty: 'is empty',
  not_empty: 'is not empty',
}
