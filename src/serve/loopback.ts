import { BlockList, isIPv6 } from 'node:net'

/** An address as the system wants it, without the brackets it has in a URL. */
export const bare = (host: string): string => host.replace(/^\[(.*)\]$/, '$1')

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  const name = bare(host).toLowerCase()
  return name === 'localhost' || LOOPBACK.check(name, isIPv6(name) ? 'ipv6' : 'ipv4')
}

/** An address somebody on this machine can open, also when we listen everywhere. */
export function reachable(host: string): string {
  const name = bare(host)
  if (name === '0.0.0.0' || name === '::') return '127.0.0.1'
  return isIPv6(name) ? `[${name}]` : name
}
