import type { OperationSpec } from '../../../src/api/operation.ts'
import type { Drawn } from '../../server/contract/hostile.ts'
import { ALL_OPERATIONS, isStream, MAKERS } from '../../server/contract/objects.ts'
import type { Method } from '../../server/support.ts'

/** A request as it is drawn: of which operation, what was done to it, and what is twisted when it is sent. */
export interface Step {
  readonly operation: string
  readonly drawn: Drawn
  /** The key it is asked with, instead of the one that may. */
  readonly as?: string | null
  readonly twist?: Twist
  readonly borrow?: Borrow
}

/** What an earlier answer told, used in this request: so many steps back, its id in the path or its cursor. */
export interface Borrow {
  readonly back: number
  readonly what: 'id' | 'cursor'
  /** It belongs to another org: nobody here may be told of it. */
  readonly isForeign?: boolean
}

/** What is done to a request that is ready to be sent. */
export type Twist =
  | { readonly kind: 'method'; readonly method: Method }
  | { readonly kind: 'headers'; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'path'; readonly how: PathTwist }
  /** Instead of the body, bytes that somebody has to decode first. */
  | { readonly kind: 'bytes'; readonly base64: string; readonly type: string }
  | { readonly kind: 'at once'; readonly times: number }

export const PATH_TWISTS = [
  'every character',
  'slashes',
  'end',
  'upper case',
  'semicolon',
  'query',
  'fragment',
  'host',
] as const
export type PathTwist = (typeof PATH_TWISTS)[number]

/** The operations that answer and end. */
export const CALLED: readonly (readonly [string, OperationSpec])[] = ALL_OPERATIONS.filter(
  ([, spec]) => !isStream(spec),
)

/** The operation of a step. Null: there is none of this name any more. */
export const specOf = ({ operation }: Step): OperationSpec | null =>
  CALLED.find(([id]) => id === operation)?.[1] ?? null

/** The text with marks for things only where there are such things: a mark may have been changed like everything else. */
export const knownMarks = (text: string): string =>
  text.replaceAll(/MAKE:([\w.]*)/g, (mark, kind: string) => (kind in MAKERS ? mark : 'made'))

/** A step as JSON: bytes become Base64. */
export const writeStep = (step: Step): unknown =>
  step.drawn.raw instanceof Uint8Array
    ? { ...step, drawn: { ...step.drawn, raw: { $bytes: Buffer.from(step.drawn.raw).toString('base64') } } }
    : step

/** The same the other way round. */
export function readStep(kept: unknown): Step {
  const step = kept as Step
  const raw: unknown = step.drawn.raw
  if (typeof raw !== 'object' || raw === null || !('$bytes' in raw)) return step
  return { ...step, drawn: { ...step.drawn, raw: Uint8Array.from(Buffer.from(String(raw.$bytes), 'base64')) } }
}

/** The address with its path written in a way that nobody writes it. */
export function twistUrl(url: string, how: PathTwist): string {
  const [path = '', query] = url.split('?')
  const rest = query === undefined ? '' : `?${query}`
  switch (how) {
    case 'every character':
      return path.replaceAll(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`) + rest
    case 'slashes':
      return path.replaceAll('/', '//') + rest
    case 'end':
      return `${path}/${rest}`
    case 'upper case':
      return path.toUpperCase() + rest
    case 'semicolon':
      return `${path};a=b${rest}`
    case 'query':
      return `${path}?${'a=b&'.repeat(200)}%=%&&==&${query ?? ''}`
    case 'fragment':
      return `${path}%23x${rest}`
    case 'host':
      return `http://evil.example.com${path}${rest}`
  }
}
