import { valueAtPointer } from '../json.ts'
import { checkCondition, describeCondition } from './check-condition.ts'
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
