import { type Flaw, flawed, parsed, type Parsed } from '../input.ts'
import { parseTarget } from '../outbound/ssrf-guard.ts'

/** The kinds of sealed (encrypted) values. A sealed value is bound to its kind and cannot be opened as another. */
export const SEALED_KINDS = ['secret', 'signing_secret', 'target.url', 'channel.credentials'] as const
export type SealedKind = (typeof SEALED_KINDS)[number]

const HOSTS_ALLOWED = 'hosts such as api.example.com, or host:port for a non-default port'
export const MAX_SECRET_HOSTS = 50
/** Longer than any host name with its port. */
export const MAX_HOST_LENGTH = 300

/**
 * Reads the hosts a secret may be sent to. A host without a port stands for the default port of http and https.
 * Patterns are not allowed, because the owner of any matching name would get the secret.
 */
export function parseSecretHosts(field: string, value: unknown): Parsed<readonly string[]> {
  if (!Array.isArray(value) || value.length === 0)
    return flawed({ field, value, message: 'must list at least one host', allowed: HOSTS_ALLOWED })
  if (value.length > MAX_SECRET_HOSTS)
    return flawed({
      field,
      value: undefined,
      message: 'has too many hosts',
      allowed: `at most ${MAX_SECRET_HOSTS} hosts`,
    })
  const read = value.map((entry: unknown, index) => parseHost(`${field}.${index}`, entry))
  const flaws = read.flatMap((one): readonly Flaw[] => (one.ok ? [] : one.flaws))
  return flaws.length > 0 ? flawed(flaws) : parsed([...new Set(read.flatMap((one) => (one.ok ? [one.value] : [])))])
}

function parseHost(field: string, value: unknown): Parsed<string> {
  const wrong = (message: string): Parsed<never> => flawed({ field, value, message, allowed: HOSTS_ALLOWED })
  if (typeof value !== 'string') return wrong('must be a text')
  if (value.length > MAX_HOST_LENGTH) return wrong('is too long')
  const text = value.trim()
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return wrong('must be a host, not a URL')
  if (text.includes('*')) return wrong('must name one host, without *')
  if (/[/?#@\\\s{}]/.test(text)) return wrong('is not a host')
  const target = parseTarget(`http://${text}/`)
  if (!target.ok) return wrong('is not a host')
  const { url } = target.value
  return parsed(url.host.replace(/\.(?=:|$)/, ''))
}

/** Whether a secret limited to these hosts may be sent to a URL. */
export function isHostAllowed(hosts: readonly string[], address: string): boolean {
  const target = parseTarget(address)
  if (!target.ok) return false
  const { url, port } = target.value
  const name = url.hostname.replace(/\.$/, '')
  if (hosts.includes(`${name}:${port}`)) return true
  return url.port === '' && hosts.includes(name)
}

/** Secret names appear in templates and paths, so only characters without a special meaning there are allowed. */
export const SECRET_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,99}$/
export const SECRET_NAME_ALLOWED = '1 to 100 letters, digits, _ and -, a letter first'

/** A reference to a secret in a text. */
const REFERENCE = /\{\{\s*secret:([^{}]*)\}\}/g

/** Whether a text is a valid name of a secret. */
export const isSecretName = (text: string): boolean => SECRET_NAME.test(text)

/** The distinct secrets that a text, or any text in a JSON value, references as `{{secret:NAME}}`. */
export function secretNamesIn(value: unknown): readonly string[] {
  const names = new Set<string>()
  collectSecretNames(value, names)
  return [...names]
}

function collectSecretNames(value: unknown, into: Set<string>): void {
  if (typeof value === 'string') {
    if (!value.includes('secret:')) return
    for (const found of value.matchAll(REFERENCE)) into.add((found[1] ?? '').trim())
  } else if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value)) collectSecretNames(inner, into)
}
