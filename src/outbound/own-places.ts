import type { ClosedPlace } from '../core/outbound/guard.ts'

type Place = Omit<ClosedPlace, 'addresses'>

const DEFAULT_PORT = 5_432

/**
 * Where a database listens, by its address: `postgres://user:password@host:5432,other/name?host=…`. A socket in the file
 * system has no address that a request could name.
 */
export function databasePlaces(address: string): readonly Place[] {
  const found = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#]*)(?:[^?#]*)(?:\?([^#]*))?/i.exec(address)
  const query = new URLSearchParams(found?.[2] ?? '')
  const named = [...(found?.[1] ?? '').split(','), ...query.getAll('host').flatMap((hosts) => hosts.split(','))]
  const ports = query.get('port')?.split(',').map(Number) ?? []
  return named
    .map((text) => decoded(text.trim()))
    .filter((text) => text !== '' && !text.startsWith('/'))
    .map((text, index) => placeOf(text, ports[index] ?? ports[0]))
}

function placeOf(text: string, port: number | undefined): Place {
  const [, bracketed, plain, own] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? []
  return {
    what: 'the database',
    host: bracketed ?? plain ?? text,
    port: own === undefined ? (port ?? DEFAULT_PORT) : Number(own),
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
