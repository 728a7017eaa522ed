import type { IncomingMessage } from 'node:http'
import { Refusal } from '../api/refusals.ts'
import type { HostCheck } from './hosts.ts'

/** What is looked at of a request. */
export type RequestHead = Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'url'>

/**
 * Refuses a request that others on its way may have read differently: with two hosts or two keys, of which Node shows the
 * first, or with a body in an encoding that nobody here undoes. And one that is not for us.
 */
export function checkHead({ headers, rawHeaders, url }: RequestHead, hosts: HostCheck): void {
  if (isTwice(rawHeaders)) throw new Refusal('MALFORMED', 'Host and Authorization may be there once')
  const encoding = headers['transfer-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked')
    throw new Refusal('MALFORMED', 'A body may come in chunks, and not in another transfer encoding')
  const host = url === undefined || url.startsWith('/') || url === '*' ? headers.host : hostIn(url)
  hosts.check(host, headers.origin)
}

const HOST = 'host'
const KEY = 'authorization'

function isTwice(rawHeaders: readonly string[]): boolean {
  let [hosts, keys] = [0, 0]
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts += 1
    else if (name.length === KEY.length && name.toLowerCase() === KEY) keys += 1
  }
  return hosts > 1 || keys > 1
}

/** A whole address instead of a path says itself whom it is for, as it does to a proxy. */
const hostIn = (url: string): string | undefined => /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1]
