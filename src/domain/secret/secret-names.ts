import { flawed, parsed, type Flaw, type Parsed } from '../input.ts'
import { parseTarget } from '../outbound/ssrf-guard.ts'

const ALLOWED = 'hosts such as api.example.com, or host:port where the port is not the usual one'
export const MAX_SECRET_HOSTS = 50
/** Longer than any name of a host with its port. */
export const MAX_HOST_LENGTH = 300

/**
 * Reads the hosts a secret may go to. A host without a port stands for the usual port of http and https; no patterns,
 * because whoever owns a part of a pattern would get the secret too.
 */
export function parseSecretHosts(field: string, value: unknown): Parsed<readonly string[]> {
  if (!Array.isArray(value) || value.length === 0)
    return flawed({ field, value, message: 'must list at least one host', allowed: ALLOWED })
  if (value.length > MAX_SECRET_HOSTS)
    return flawed({ field, value: undefined, message: 'has too many', allowed: `at most ${MAX_SECRET_HOSTS} hosts` })
  const read = value.map((entry: unknown, index) => parseHost(`${field}.${index}`, entry))
  const flaws = read.flatMap((one): readonly Flaw[] => (one.ok ? [] : one.flaws))
  return flaws.length > 0 ? flawed(flaws) : parsed([...new Set(read.flatMap((one) => (one.ok ? [one.value] : [])))])
}

function parseHost(field: string, value: unknown): Parsed<string> {
  const wrong = (message: string): Parsed<never> => flawed({ field, value, message, allowed: ALLOWED })
  if (typeof value !== 'string') return wrong('must be a text')
  if (value.length > MAX_HOST_LENGTH) return wrong('is too long')
  const text = value.trim()
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return wrong('must be a host, not an address')
  if (text.includes('*')) return wrong('must name one host, without *')
  if (/[/?#@\\\s{}]/.test(text)) return wrong('is not a host')
  const target = parseTarget(`http://${text}/`)
  if (!target.ok) return wrong('is not a host')
  const { url } = target.value
  return parsed(url.host.replace(/\.(?=:|$)/, ''))
}

/** Whether a secret that may go to these hosts may go to an address. */
export function mayGoTo(hosts: readonly string[], address: string): boolean {
  const target = parseTarget(address)
  if (!target.ok) return false
  const { url, port } = target.value
  const name = url.hostname.replace(/\.$/, '')
  if (hosts.includes(`${name}:${port}`)) return true
  return url.port === '' && hosts.includes(name)
}
