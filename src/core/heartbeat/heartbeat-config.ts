import { parseActiveHours, type ActiveHours } from './active-hours.ts'
import { sessionKey, type AgentId, type SessionKey } from '../ids.ts'
import { flawed, integerField, orNull, parsed, parseFields, type Parsed } from '../input.ts'
import { parseProbe } from '../probe/probe.ts'
import type { Zone } from '../time/zone.ts'

/** The word an agent answers with when nothing needs attention. */
export const HEARTBEAT_TOKEN = 'HEARTBEAT_OK'

/** Where an answer goes: the chat last used, nowhere, or a channel with or without somebody in it. */
export type HeartbeatTarget =
  | { readonly kind: 'last' }
  | { readonly kind: 'none' }
  | { readonly kind: 'channel'; readonly channel: string; readonly recipient: string | null }

export type Checklist =
  | { readonly kind: 'text'; readonly text: string }
  /** A path below the directory that the operator configured. */
  | { readonly kind: 'file'; readonly file: string }

/** Each `okStep` acknowledgements in a row double the interval, up to `maxIntervalSeconds`. */
export interface Adaptive {
  readonly okStep: number
  readonly maxIntervalSeconds: number
}

export interface HeartbeatConfig {
  readonly enabled: boolean
  readonly intervalSeconds: number
  readonly activeHours: ActiveHours | null
  readonly checklist: Checklist | null
  readonly prompt: string
  readonly target: HeartbeatTarget
  readonly ackMaxChars: number
  readonly session: SessionKey
  readonly adaptive: Adaptive | null
  /** What is asked before the agent is woken, as it was given. */
  readonly probe: Readonly<Record<string, unknown>> | null
}

export const HEARTBEAT_DEFAULTS = {
  intervalSeconds: 1800,
  ackMaxChars: 300,
  target: { kind: 'last' },
  prompt:
    'Work through the checklist below. Report only what needs attention now, and do not repeat what you have ' +
    `reported before. If nothing needs attention, answer ${HEARTBEAT_TOKEN} and nothing else.`,
  okStep: 3,
  /** How often the interval itself fits into the longest one that `adaptive` reaches. */
  maxStretch: 4,
} as const satisfies Partial<Record<keyof HeartbeatConfig | keyof Adaptive | 'maxStretch', unknown>>

/** A heartbeat less often than once a year is none, and its next moment must be one that can be written down. */
const parseIntervalSeconds = integerField({ min: 1, max: 366 * 86_400 })

/** More than what is kept of an answer; whoever wants everything suppressed has a target for that. */
const MOST_ACK_CHARS = 1_000_000

/** Reads a whole heartbeat configuration; what is missing or null takes its default. */
export function parseHeartbeat(
  field: string,
  value: unknown,
  agent: { readonly id: AgentId; readonly timezone?: Zone },
): Parsed<HeartbeatConfig> {
  const fields = parseFields(field, value, {
    enabled: orNull(parseFlag),
    interval_seconds: orNull(parseIntervalSeconds),
    active_hours: orNull((name, given) => parseActiveHours(name, given, agent.timezone)),
    checklist: orNull(parseChecklist),
    prompt: orNull(parseText),
    target: orNull(parseHeartbeatTarget),
    ack_max_chars: orNull(integerField({ min: 0, max: MOST_ACK_CHARS })),
    session: orNull(parseText),
    adaptive: orNull(parseAdaptive),
    probe: orNull(parseGivenProbe),
  })
  if (!fields.ok) return fields
  const given = fields.value
  const checklist = given.checklist ?? null
  const intervalSeconds = given.interval_seconds ?? HEARTBEAT_DEFAULTS.intervalSeconds
  const adaptive = fillAdaptive(given.adaptive ?? false, intervalSeconds)
  if (given.enabled === true && checklist === null)
    return flawed({
      field: within(field, 'enabled'),
      value: true,
      message: 'needs a checklist',
      allowed: CHECKLIST_FORMS,
    })
  if (adaptive !== null && adaptive.maxIntervalSeconds < intervalSeconds)
    return flawed({
      field: within(field, 'adaptive.max_interval_seconds'),
      value: adaptive.maxIntervalSeconds,
      message: 'must not be below interval_seconds',
      allowed: `a whole number from ${intervalSeconds} on`,
    })
  return parsed({
    // A checklist is what a heartbeat is for: setting one switches it on unless the user says otherwise.
    enabled: given.enabled ?? checklist !== null,
    intervalSeconds,
    activeHours: given.active_hours ?? null,
    checklist,
    prompt: given.prompt ?? HEARTBEAT_DEFAULTS.prompt,
    target: given.target ?? HEARTBEAT_DEFAULTS.target,
    ackMaxChars: given.ack_max_chars ?? HEARTBEAT_DEFAULTS.ackMaxChars,
    session: sessionKey(given.session ?? `agent:${agent.id}:heartbeat:main`),
    adaptive,
    probe: given.probe ?? null,
  })
}

/** It is kept as it was given, and read again when it is asked. */
function parseGivenProbe(field: string, value: unknown): Parsed<Readonly<Record<string, unknown>>> {
  const read = parseProbe(field, value)
  return read.ok ? parsed(value as Readonly<Record<string, unknown>>) : read
}

/** The name of a field inside of what is read, which may be the whole body. */
const within = (field: string, name: string): string => (field === '' ? name : `${field}.${name}`)

const CHANNEL = /^[A-Za-z0-9][\w.-]*$/

/** Reads `last`, `none`, `channel` or `channel:recipient`; a recipient may itself contain colons. */
export function parseHeartbeatTarget(field: string, value: unknown): Parsed<HeartbeatTarget> {
  const allowed = 'last, none, a channel, or channel:recipient'
  if (typeof value !== 'string') return flawed({ field, value, message: 'must be a target', allowed })
  const text = value.trim()
  const word = text.toLowerCase()
  if (word === 'last' || word === 'none') return parsed({ kind: word })
  const colon = text.indexOf(':')
  const channel = colon === -1 ? text : text.slice(0, colon)
  const recipient = colon === -1 ? null : text.slice(colon + 1).trim()
  const isReserved = ['last', 'none'].includes(channel.toLowerCase())
  if (isReserved) return flawed({ field, value, message: `says ${channel}, which takes no recipient`, allowed })
  if (!CHANNEL.test(channel)) return flawed({ field, value, message: 'does not name a channel', allowed })
  if (recipient === '') return flawed({ field, value, message: 'has a colon but no recipient', allowed })
  return parsed({ kind: 'channel', channel, recipient })
}

/** The target as a user writes it. */
export function formatHeartbeatTarget(target: HeartbeatTarget): string {
  if (target.kind !== 'channel') return target.kind
  return target.recipient === null ? target.channel : `${target.channel}:${target.recipient}`
}

const CHECKLIST_FORMS = 'either {text} or {file}'

function parseChecklist(field: string, value: unknown): Parsed<Checklist> {
  const fields = parseFields(field, value, { text: parseAnyText, file: parseFile })
  if (!fields.ok) return fields
  const { text, file } = fields.value
  if (text !== undefined && file === undefined) return parsed({ kind: 'text', text })
  if (file !== undefined && text === undefined) return parsed({ kind: 'file', file })
  return flawed({ field, value, message: 'must be a text or a file', allowed: CHECKLIST_FORMS })
}

/** Checked again where the file is opened (links can point outside), but a bad path should fail when it is written. */
function parseFile(field: string, value: unknown): Parsed<string> {
  const allowed = 'a path below the checklist directory, such as ops/morning.md'
  const isBelow =
    typeof value === 'string' &&
    !/[\\:\0]/.test(value) &&
    value.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  return isBelow ? parsed(value) : flawed({ field, value, message: 'is not a path that stays below', allowed })
}

type GivenAdaptive = boolean | { readonly ok_step?: number; readonly max_interval_seconds?: number }

/** Reads `true`, `false` or the numbers; what is left out depends on the interval and is filled in afterwards. */
const parseAdaptive = (field: string, value: unknown): Parsed<GivenAdaptive> =>
  typeof value === 'boolean'
    ? parsed(value)
    : parseFields(field, value, {
        ok_step: integerField({ min: 1, max: 1_000_000 }),
        max_interval_seconds: parseIntervalSeconds,
      })

function fillAdaptive(given: GivenAdaptive, intervalSeconds: number): Adaptive | null {
  if (given === false) return null
  const { okStep, maxStretch } = HEARTBEAT_DEFAULTS
  const usual = { okStep, maxIntervalSeconds: intervalSeconds * maxStretch }
  if (given === true) return usual
  return {
    okStep: given.ok_step ?? usual.okStep,
    maxIntervalSeconds: given.max_interval_seconds ?? usual.maxIntervalSeconds,
  }
}

const parseText = (field: string, value: unknown): Parsed<string> =>
  typeof value === 'string' && value.trim() !== ''
    ? parsed(value)
    : flawed({ field, value, message: 'must be a text that is not empty' })

/** An empty checklist is a checklist: its heartbeat says that there is nothing to check. */
const parseAnyText = (field: string, value: unknown): Parsed<string> =>
  typeof value === 'string' ? parsed(value) : flawed({ field, value, message: 'must be a text' })

const parseFlag = (field: string, value: unknown): Parsed<boolean> =>
  typeof value === 'boolean' ? parsed(value) : flawed({ field, value, message: 'must be true or false' })
