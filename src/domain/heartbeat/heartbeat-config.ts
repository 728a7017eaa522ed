import type { SessionKey } from '../ids.ts'
import { type Flaw, flawed, type Parsed, parsed } from '../input.ts'
import type { Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import { formatTimeOfDay } from '../time/calendar.ts'
import { type DailyWindow, isInsideWindow, parseDailyWindow, secondOfDay, windowStart } from '../time/daily-window.ts'
import type { Zone } from '../time/zone.ts'

/** When a heartbeat may run its agent. */
type ActiveHours = DailyWindow

/** Reads active hours; the time zone is required unless the caller has a fallback. */
export const parseActiveHours = (field: string, value: unknown, fallback?: Zone): Parsed<ActiveHours> =>
  parseDailyWindow(field, value, fallback)

/** Why the heartbeat may not run now; null when it may. Null hours mean always. */
export function outsideActiveHours(hours: ActiveHours | null, at: Instant): Why | null {
  if (hours === null || isInsideWindow(hours, at)) return null
  const minute = Math.floor(secondOfDay(hours.timezone, at) / 60) * 60
  return because('outside_active_hours', 'heartbeat.active_hours', {
    local_time: formatTimeOfDay(minute),
    timezone: hours.timezone.name,
    start: formatTimeOfDay(hours.start),
    end: formatTimeOfDay(hours.end),
  })
}

/** The next time within the active hours. */
export const activeFrom = (hours: ActiveHours | null, at: Instant): Instant =>
  hours === null || isInsideWindow(hours, at) ? at : windowStart(hours, at)

/** The reply of an agent when nothing needs attention. */
export const HEARTBEAT_TOKEN = 'HEARTBEAT_OK'

/** Where a report goes: the most recently used chat, nowhere, or a channel with or without a recipient. */
export type HeartbeatTarget =
  | { readonly kind: 'last' }
  | { readonly kind: 'none' }
  | { readonly kind: 'channel'; readonly channel: string; readonly recipient: string | null }

export type Checklist =
  | { readonly kind: 'text'; readonly text: string }
  /** A path below the checklist directory that the operator configured. */
  | { readonly kind: 'file'; readonly file: string }

/** Every `okStep` consecutive acknowledgements double the interval, up to `maxIntervalSeconds`. */
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
  /** The probe that is checked before the agent runs, as it was given. */
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
  /** The default maximum of `adaptive`, as a multiple of the interval. */
  maxStretch: 4,
} as const satisfies Partial<Record<keyof HeartbeatConfig | keyof Adaptive | 'maxStretch', unknown>>

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
  if (isReserved) return flawed({ field, value, message: `names ${channel}, which takes no recipient`, allowed })
  if (!CHANNEL.test(channel)) return flawed({ field, value, message: 'does not name a channel', allowed })
  if (recipient === '') return flawed({ field, value, message: 'has a colon but no recipient', allowed })
  return parsed({ kind: 'channel', channel, recipient })
}

/** Formats a target as users write it. */
export function formatHeartbeatTarget(target: HeartbeatTarget): string {
  if (target.kind !== 'channel') return target.kind
  return target.recipient === null ? target.channel : `${target.channel}:${target.recipient}`
}

const CHECKLIST_FORMS = 'either {text} or {file}'

/** The flaw of an enabled heartbeat without a checklist. */
export const NO_CHECKLIST: Flaw = {
  field: 'enabled',
  value: true,
  message: 'requires a checklist',
  allowed: CHECKLIST_FORMS,
}

/** Checks that a checklist has exactly one of text and file; their values are parsed separately. */
export function parseChecklistForm(field: string, value: unknown): Parsed<unknown> {
  const given = typeof value === 'object' && value !== null ? value : {}
  return 'text' in given !== 'file' in given
    ? parsed(value)
    : flawed({ field, value, message: 'must be a text or a file', allowed: CHECKLIST_FORMS })
}

/**
 * Also checked when the file is opened, because links can point outside; checked here so that an invalid path fails
 * when it is saved.
 */
export function parseChecklistFile(field: string, value: unknown): Parsed<string> {
  const allowed = 'a path below the checklist directory, such as ops/morning.md'
  const isBelow =
    typeof value === 'string' &&
    !/[\\:\0]/.test(value) &&
    value.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  return isBelow
    ? parsed(value)
    : flawed({ field, value, message: 'is not a path below the checklist directory', allowed })
}

/** Reads a text that is not blank. */
export const parseFilledText = (field: string, value: unknown): Parsed<string> =>
  typeof value === 'string' && value.trim() !== ''
    ? parsed(value)
    : flawed({ field, value, message: 'must not be empty' })
