import { parseSessionSettings, parseSlackSettings, parseTelegramSettings } from './chat-settings.ts'
import { parseMailSettings } from './mail-settings.ts'
import { flawed, parsed, type Flaw, type Parsed } from '../../domain/input.ts'
import { parseJson } from '../../domain/input-fields.ts'
import { nearestWord } from '../../domain/nearest-word.ts'

/** What a kind of target needs to know, as it is kept. */
export type TargetSettings = Readonly<Record<string, unknown>>

/** What is the same for all targets of a kind. */
export interface TargetKindRule {
  /** Whether it is reached by an address that a person gives. */
  readonly url: 'required' | 'optional' | 'none'
  /** Programs hear of every ending and get JSON; people get a text, and do not hear of what a person ended. */
  readonly audience: 'program' | 'people'
  /** Reads `settings` as a person sends them; undefined when they are left out. */
  readonly settings: (field: string, value: unknown) => Parsed<TargetSettings>
  /** The settings without what nobody may see again. Left out: all may be seen. */
  readonly shown?: (settings: TargetSettings) => TargetSettings
  /** The address itself lets whoever knows it in, so it is shown only in part. */
  readonly hidesUrl?: boolean
}

/** Every kind of target there is. */
export const TARGET_KINDS = {
  webhook: { url: 'required', audience: 'program', settings: noSettings },
  email: { url: 'none', audience: 'people', settings: parseMailSettings },
  slack: { url: 'optional', audience: 'people', settings: parseSlackSettings, hidesUrl: true },
  telegram: { url: 'none', audience: 'people', settings: parseTelegramSettings },
  session: { url: 'none', audience: 'people', settings: parseSessionSettings },
} as const satisfies Readonly<Record<string, TargetKindRule>>

export type TargetKind = keyof typeof TARGET_KINDS

/** The kinds by name, for schemas and for whoever reads them. */
export const TARGET_KIND_WORDS = Object.keys(TARGET_KINDS) as [TargetKind, ...TargetKind[]]

/** The rule of a kind. */
export const ruleOf = (kind: TargetKind): TargetKindRule => TARGET_KINDS[kind]

/** Reads the name of a kind. */
export function parseTargetKind(field: string, value: unknown): Parsed<TargetKind> {
  const given = typeof value === 'string' ? value.toLowerCase() : null
  const kind = TARGET_KIND_WORDS.find((word) => word === given)
  if (kind !== undefined) return parsed(kind)
  const near = given === null ? null : nearestWord(given, TARGET_KIND_WORDS)
  const message = `is not a kind of target${near === null ? '' : `; did you mean ${near}?`}`
  return flawed({ field, value, message, allowed: TARGET_KIND_WORDS.join(', ') })
}

/** What a new target has unless it is said. */
export const DEFAULT_TARGET_KIND: TargetKind = 'webhook'

/** Reads `settings` of a kind, which are read whole: a change replaces them. */
export function parseTargetSettings(kind: TargetKind, value: unknown): Parsed<TargetSettings> {
  const json = value === undefined ? parsed(undefined) : parseJson('settings', value)
  return json.ok ? ruleOf(kind).settings('settings', json.value) : json
}

/** What is wrong with the address of a target because of its kind. */
export function targetUrlFlaws(kind: TargetKind, value: unknown, isNew: boolean): readonly Flaw[] {
  const { url } = ruleOf(kind)
  if (url === 'none' && value !== undefined)
    return [{ field: 'url', value, message: `has no meaning for a target of kind ${kind}`, allowed: 'settings' }]
  return url === 'required' && value === undefined && isNew ? [{ field: 'url', value, message: 'is missing' }] : []
}

/** The settings of a target as they may be shown. */
export const shownSettings = (kind: TargetKind, settings: TargetSettings): TargetSettings =>
  ruleOf(kind).shown?.(settings) ?? settings

/** The address of a target as it may be shown. */
export const shownUrl = (kind: TargetKind, url: string): string =>
  ruleOf(kind).hidesUrl === true && url !== '' ? `${originOf(url)}/***` : url

function originOf(url: string): string {
  try {
    return new URL(url).origin
  } catch {
    return ''
  }
}

/** For kinds that need nothing but their address. */
function noSettings(field: string, value: unknown): Parsed<TargetSettings> {
  const isEmpty =
    value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  return isEmpty ? parsed({}) : flawed({ field, value, message: 'has no meaning for this kind', allowed: '{}' })
}
