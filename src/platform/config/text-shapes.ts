import type { TextShape } from './key.ts'

const shape = (allowed: string, check: TextShape['check']): TextShape => ({ allowed, check })

const unless = (isFine: boolean, message: string): string | null => (isFine ? null : message)

/** Any non-empty text. */
export const ANY_TEXT = shape('a text', () => null)

export const DIRECTORY = shape('the path of a directory', () => null)

const HOST = /^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[?[0-9a-f:.%]*:[0-9a-f:.%a-z]*\]?)$/i

/** A name or an address, without a port. */
export const HOST_NAME = shape('a host name or an IP address, without a port', (text) =>
  unless(HOST.test(text), 'is not a host name or an IP address'),
)

function isHostWithPort(text: string, port: 'required' | 'optional'): boolean {
  const found = /^(.+?)(?::(\d{1,5}))?$/.exec(text)
  const host = found?.[1] ?? ''
  const isBracketed = !host.includes(':') || (host.startsWith('[') && host.endsWith(']'))
  const number = found?.[2]
  if (number === undefined) return port === 'optional' && isBracketed && HOST.test(host)
  return isBracketed && HOST.test(host) && Number(number) >= 1 && Number(number) <= 65_535
}

/** The format of a Host header. */
export const HOST_MAYBE_PORT = shape('`host` or `host:port`', (text) =>
  unless(isHostWithPort(text, 'optional'), 'is not a host with or without a port'),
)

export const HOST_AND_PORT = shape('`host:port`', (text) =>
  unless(isHostWithPort(text, 'required'), 'is not a host with a port'),
)

function urlOf(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

const isHttp = (url: URL | null): url is URL => url !== null && ['http:', 'https:'].includes(url.protocol)

/** The public URL of the server, which links start with. */
export const PUBLIC_URL = shape('an http or https URL without path, query and user', (text) => {
  const url = urlOf(text)
  if (!isHttp(url)) return 'is not an http or https URL'
  return unless(url.href === `${url.origin}/`, 'must not have a path, query, fragment or user')
})

export const HTTP_URL = shape('an http or https URL without user', (text) => {
  const url = urlOf(text)
  if (!isHttp(url)) return 'is not an http or https URL'
  return unless(url.username === '' && url.password === '', 'must not contain a user or password')
})

/** An e-mail address, optionally with a name in front. */
export const MAIL_ADDRESS = shape('an address such as `me@example.com` or `Name <me@example.com>`', (text) =>
  unless(/^(?:[^\s@<>]+@[^\s@<>]+|[^\p{Cc}@<>]+ <[^\s@<>]+@[^\s@<>]+>)$/u.test(text), 'is not an e-mail address'),
)

/** Checks only the scheme, because URLs with a socket in place of the host are not valid for `URL`. */
export const POSTGRES_URL = shape('a postgres:// URL', (text) =>
  unless(/^postgres(?:ql)?:\/\//.test(text), 'is not a postgres:// URL'),
)

/** Masks the password in any notation; masks too much rather than too little. */
export const withoutPassword = (value: unknown): unknown =>
  typeof value === 'string'
    ? value
        .replace(/^([a-z]+:\/\/[^:@/?#]*):.*@/i, '$1:***@')
        .replaceAll(/([?&][^=&]*(?:pass|secret|key)[^=&]*=)[^&#]*/gi, '$1***')
    : value

/** Only names that need no quoting in SQL. */
export const SCHEMA_NAME = shape('lower-case letters, digits and _, not starting with a digit or pg_', (text) =>
  unless(
    /^[a-z_][a-z0-9_]{0,62}$/.test(text) && !text.startsWith('pg_') && text !== 'information_schema',
    'is not a valid schema name',
  ),
)

export const ABSOLUTE_PATH = shape('an absolute path', (text) =>
  unless(text.startsWith('/') && !text.split('/').includes('..'), 'is not an absolute path'),
)
