import type { ActiveHours } from '../../core/heartbeat/active-hours.ts'
import type { SessionKey } from '../ids.ts'
import { flawed, parsed, type Flaw, type Parsed } from '../input.ts'

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

/** What is wrong with a heartbeat that is switched on without a checklist. */
export const NO_CHECKLIST: Flaw = {
  field: 'enabled',
  value: true,
  message: 'needs a checklist',
  allowed: CHECKLIST_FORMS,
}

/** Reads whether a checklist is a text or a file; what the text or the file is like is read by itself. */
export function parseChecklistForm(field: string, value: unknown): Parsed<unknown> {
  const given = typeof value === 'object' && value !== null ? value : {}
  return 'text' in given !== 'file' in given
    ? parsed(value)
    : flawed({ field, value, message: 'must be a text or a file', allowed: CHECKLIST_FORMS })
}

/** Checked again where the file is opened (links can point outside), but a bad path should fail when it is written. */
export function parseChecklistFile(field: string, value: unknown): Parsed<string> {
  const allowed = 'a path below the checklist directory, such as ops/morning.md'
  const isBelow =
    typeof value === 'string' &&
    !/[\\:\0]/.test(value) &&
    value.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  return isBelow ? parsed(value) : flawed({ field, value, message: 'is not a path that stays below', allowed })
}

/** Reads a text that is more than blanks. */
export const parseFilledText = (field: string, value: unknown): Parsed<string> =>
  typeof value === 'string' && value.trim() !== ''
    ? parsed(value)
    : flawed({ field, value, message: 'must be a text that is not empty' })
