import { flawed, parsed, type Flaw, type Parsed } from '../domain/input.ts'
import { isSecretName, SECRET_NAME_ALLOWED } from '../domain/secret/secret-names.ts'

/** The template names besides `payload.…`. */
const TEMPLATE_NAMES = ['run_id', 'job_run_id', 'scheduled_time', 'attempt'] as const

/** The template values of an attempt. */
export interface TemplateValues {
  readonly run_id: string
  readonly job_run_id: string
  /** Empty for runs without a schedule. */
  readonly scheduled_time: string
  readonly attempt: number
  readonly payload: unknown
  /** The values of secrets by name, where secrets are allowed. */
  readonly secrets?: Readonly<Record<string, string>> | undefined
}

/** A placeholder. Filled-in values are never scanned again. */
const PLACEHOLDER = /\{\{([^{}]*)\}\}/g
const WHOLE = /^\{\{([^{}]*)\}\}$/
const PAYLOAD = /^payload(?:\.[^.]+)*$/

const SECRET = 'secret:'

/** One flaw per unknown placeholder; secrets only where allowed. */
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
      const message = secrets ? `references an invalid secret name: ${secret}` : SECRETS_NOT_ALLOWED
      return secrets && isSecretName(secret)
        ? []
        : [{ field, value: text, message, position, ...(secrets ? { allowed: SECRET_NAME_ALLOWED } : {}) }]
    }
    const known = TEMPLATE_NAMES.map((one) => `{{${one}}}`).join(', ')
    const allowed = `${known}, {{payload.x}}${secrets ? ', {{secret:NAME}}' : ''}`
    return [{ field, value: text, message: `has an unknown placeholder: {{${name}}}`, allowed, position }]
  })
}

const SECRETS_NOT_ALLOWED = 'must not reference a secret; only headers and bodies of agents may'

/** Fills all placeholders in one pass; `write` escapes each value for its context. */
export const fillText = (text: string, values: TemplateValues, write: (value: unknown) => string): string =>
  text.replaceAll(PLACEHOLDER, (_, name: string) => write(templateValueOf(name.trim(), values)))

/**
 * Fills the placeholders of a JSON value. A text that is a single placeholder becomes the value itself (a number,
 * list or null); in a longer text the value is inserted as text.
 */
export function fillJson(value: unknown, values: TemplateValues): unknown {
  if (typeof value === 'string') {
    const whole = WHOLE.exec(value)
    return whole === null ? fillText(value, values, asText) : templateValueOf((whole[1] ?? '').trim(), values)
  }
  if (Array.isArray(value)) return value.map((entry) => fillJson(entry, values))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, fillJson(entry, values)]))
}

/** A value as text: texts as they are, missing values empty, others as JSON. */
export function asText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function templateValueOf(name: string, values: TemplateValues): unknown {
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

/** With the flag `u` this matches only unpaired surrogates, which cannot be encoded. */
const HALF_CHARACTER = /\p{Surrogate}/gu

/** The part of a URL that decides where the request goes and must not contain a template. */
const BEFORE_PATH = /^[^/?#]*\/\/[^/?#]*/

/** Reads a URL with templates in its path and query. */
export function parseUrlTemplate(field: string, text: string): Parsed<string> {
  const flaws = [...templateFlaws(field, text)]
  if ((BEFORE_PATH.exec(text.trim())?.[0] ?? text).includes('{{'))
    flaws.push({
      ...{ field, value: text, message: 'must not contain a template in its scheme, host or port' },
      allowed: 'templates in the path and in the query',
    })
  return flaws.length > 0 ? flawed(flaws) : parsed(text.trim())
}

/**
 * Fills a URL. Every value is encoded so that it stays one segment of the path or the query; null when a value such
 * as `..` would still change the path.
 */
export function fillUrl(text: string, values: TemplateValues): string | null {
  const filled = fillText(text, values, (value) =>
    encodeURIComponent(asText(value).replaceAll(HALF_CHARACTER, '\uFFFD')),
  )
  const plain = fillText(text, values, () => 'x')
  if (!URL.canParse(filled) || !URL.canParse(plain)) return null
  const [url, meant] = [new URL(filled), new URL(plain)]
  const isSameStructure =
    url.origin === meant.origin && url.pathname.split('/').length === meant.pathname.split('/').length
  return isSameStructure ? url.href : null
}
