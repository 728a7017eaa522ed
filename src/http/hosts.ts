import { Refusal } from '../api/refusals.ts'
import type { HttpSettings } from './context.ts'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Tells whether a request was meant for this server, and for nobody it was tricked into. */
export interface HostCheck {
  /** Refuses a Host that is not ours, and an Origin that is not the Host's. */
  readonly check: (host: string | undefined, origin: string | undefined) => void
}

/**
 * Without this check any page in a browser could reach a server on the same machine by a name that resolves to
 * 127.0.0.1. `port` is what we listen on, asked late because it is known late.
 */
export function createHostCheck(settings: () => HttpSettings, port: () => number): HostCheck {
  // Most requests name the same host as the one before.
  let known: { readonly host: string; readonly settings: HttpSettings } | null = null
  return {
    check: (host, origin) => {
      const now = settings()
      if (host === undefined || known?.host !== host || known.settings !== now) {
        if (host === undefined || !isOurs(host, now, port())) throw misdirected(host)
        known = { host, settings: now }
      }
      if (origin !== undefined && !isSameOrigin(origin, host, now)) throw foreign(origin)
    },
  }
}

function isOurs(host: string, settings: HttpSettings, port: number): boolean {
  const asked = host.toLowerCase()
  const [name, number] = splitHost(asked)
  if (LOOPBACK.has(name) && number === port) return true
  const outside = publicUrl(settings)
  if (outside !== null && outside.host === asked) return true
  return settings.allowedHosts.some((allowed) => isNamed(allowed.toLowerCase(), asked, name))
}

/** `name:port` is exactly that; a bare `name` is that name with any port. */
function isNamed(allowed: string, asked: string, name: string): boolean {
  return asked === allowed || (!/:\d+$/.test(allowed) && name === allowed)
}

function splitHost(host: string): readonly [string, number] {
  const [, name = host, port = '80'] = /^(.*?)(?::(\d{1,5}))?$/.exec(host) ?? []
  return [name, Number(port)]
}

function publicUrl({ publicUrl: text }: HttpSettings): URL | null {
  return text !== null && URL.canParse(text) ? new URL(text) : null
}

/** TLS ends before us, so of a host from outside both schemes are the same; a loopback name is never behind TLS. */
function isSameOrigin(origin: string, host: string, settings: HttpSettings): boolean {
  const given = origin.toLowerCase()
  const own = host.toLowerCase()
  // A browser leaves out the port that goes without saying.
  if (given === `http://${own.replace(/:80$/, '')}`) return true
  const isLocal = LOOPBACK.has(splitHost(own)[0]) && publicUrl(settings)?.host !== own
  return !isLocal && given === `https://${own.replace(/:443$/, '')}`
}

const misdirected = (host: string | undefined): Refusal =>
  new Refusal(
    'MISDIRECTED',
    `${host === undefined ? 'There is no Host' : `The Host ${host.slice(0, 200)} is not one of this server`}; use the address it listens on, or add the host to server.allowed_hosts`,
  )

const foreign = (origin: string): Refusal =>
  new Refusal('FOREIGN_ORIGIN', `Requests of pages from ${origin.slice(0, 200)} are not answered`)
