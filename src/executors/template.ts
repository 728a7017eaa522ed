import { flawed, parsed, type Flaw, type Parsed } from '../domain/input.ts'
import { isSecretName, SECRET_NAME_ALLOWED } from '../core/secret/secret-names.ts'

/** What templates may name beside `payload.…`. */
const TEMPLATE_NAMES = ['run_id', 'job_run_id', 'scheduled_time', 'attempt'] as const

/** What the names stand for in one attempt. */
export interface TemplateValues {
  readonly run_id: string
  readonly job_run_id: string
  /** Empty for work that no schedule has planned. */
  readonly scheduled_time: string
  readonly attempt: number
  readonly payload: unknown
  /** Values of secrets by name, where they may stand. */
  readonly secrets?: Readonly<Record<string, string>> | undefined
}

/** The braces and what is between them; what is filled in is never looked at again. */
const PLACEHOLDER = /\{\{([^{}]*)\}\}/g
const WHOLE = /^\{\{([^{}]*)\}\}$/
const PAYLOAD = /^payload(?:\.[^.]+)*$/

const SECRET = 'secret:'

/** One flaw for each placeholder of a text that stands for nothing. Secrets may be named only where somebody says so. */
export function templateFlaws(
  field: string,
  text: string,
  { secrets = false }: { readonly secrets?: boolean } = {},
): readonly Flaw[] {
  return [...text.matchAll(PLACEHOLDER)].flatMap((found) => {
    const name = (found[1] ?? '').trim()
    if (TEMPLATE_NAMES.some((known) => known === name) || PAYLOAD.test(name)) return []
    const position = found.index
    if (name.startsWith(SECRET)) {
      const secret = name.slice(SECRET.length)
      const message = secrets ? `names what cannot be a secret: ${secret}` : SECRETS_ELSEWHERE
      return secrets && isSecretName(secret)
        ? []
        : [{ field, value: text, message, position, ...(secrets ? { allowed: SECRET_NAME_ALLOWED } : {}) }]
    }
    const known = TEMPLATE_NAMES.map((one) => `{{${one}}}`).join(', ')
    const allowed = `${known}, {{payload.x}}${secrets ? ', {{secret:NAME}}' : ''}`
    return [{ field, value: text, message: `has a template that stands for nothing: {{${name}}}`, allowed, position }]
  })
}

const SECRETS_ELSEWHERE = 'must not name a secret; secrets stand in the headers and the body of agents alone'

/** Fills in what the placeholders stand for, in one pass, each value written for the place where it stands. */
export const fillText = (text: string, values: TemplateValues, write: (value: unknown) => string): string =>
  text.replaceAll(PLACEHOLDER, (_, name: string) => write(valueOf(name.trim(), values)))

/**
 * Fills in a value that is JSON. A text that is a placeholder and nothing else becomes the value itself, number, list or
 * null; inside a longer text the value is written out.
 */
export function fillJson(value: unknown, values: TemplateValues): unknown {
  if (typeof value === 'string') {
    const whole = WHOLE.exec(value)
    return whole === null ? fillText(value, values, asText) : valueOf((whole[1] ?? '').trim(), values)
  }
  if (Array.isArray(value)) return value.map((entry) => fillJson(entry, values))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, fillJson(entry, values)]))
}

/** A value as text: what is no text is JSON, and what is not there is nothing. */
export function asText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function valueOf(name: string, values: TemplateValues): unknown {
  const known = TEMPLATE_NAMES.find((one) => one === name)
  if (known !== undefined) return values[known]
  if (name.startsWith(SECRET)) return secretOf(name.slice(SECRET.length), values)
  let found: unknown = values.payload
  for (const step of name.split('.').slice(1)) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return null
    found = (found as Readonly<Record<string, unknown>>)[step]
  }
  return found ?? null
}

const secretOf = (name: string, { secrets = {} }: TemplateValues): string | null =>
  Object.hasOwn(secrets, name) ? (secrets[name] ?? null) : null

/** With the flag `u` a whole pair is one character, so this finds halves only; nobody could encode one. */
const HALF_CHARACTER = /\p{Surrogate}/gu

/** No template may stand where it would decide whom we talk to. */
const BEFORE_PATH = /^[^/?#]*\/\/[^/?#]*/

/** Reads an address with templates in its path and query. */
export function parseUrlTemplate(field: string, text: string): Parsed<string> {
  const flaws = [...templateFlaws(field, text)]
  if ((BEFORE_PATH.exec(text.trim())?.[0] ?? text).includes('{{'))
    flaws.push({
      ...{ field, value: text, message: 'must not have a template in its scheme, host or port' },
      allowed: 'templates in the path and in the query',
    })
  return flaws.length > 0 ? flawed(flaws) : parsed(text.trim())
}

/**
 * The address with its values. Null: a value would lead out of its place in the path, as `..` does. Every value is
 * written so that it stays one piece of the path or the query.
 */
export function fillUrl(text: string, values: TemplateValues): string | null {
  const filled = fillText(text, values, (value) =>
    encodeURIComponent(asText(value).replaceAll(HALF_CHARACTER, '\uFFFD')),
  )
  const plain = fillText(text, values, () => 'x')
  if (!URL.canParse(filled) || !URL.canParse(plain)) return null
  const [url, meant] = [new URL(filled), new URL(plain)]
  const isSamePlace = url.origin === meant.origin && url.pathname.split('/').length === meant.pathname.split('/').length
  return isSamePlace ? url.href : null
}
