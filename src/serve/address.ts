import { once } from 'node:events'
import { BlockList, createServer, isIPv6 } from 'node:net'
import type { Config } from '../platform/config/keys.ts'
import { StartError } from './configuration.ts'
import { findServers, isAlive } from './paths.ts'

/** An IP address without the brackets it has in a URL. */
export const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1')

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Whether an address is reachable only from this machine. */
export function isLoopback(host: string): boolean {
  const name = withoutBrackets(host).toLowerCase()
  return name === 'localhost' || LOOPBACK.check(name, isIPv6(name) ? 'ipv6' : 'ipv4')
}

/** An address that works on this machine, also if the server listens on all addresses. */
export function reachable(host: string): string {
  const name = withoutBrackets(host)
  if (name === '0.0.0.0' || name === '::') return '127.0.0.1'
  return isIPv6(name) ? `[${name}]` : name
}

/** Tries to listen and returns the error; null: it works. */
export async function tryListening({
  host,
  port,
}: {
  readonly host: string
  readonly port: number
}): Promise<NodeJS.ErrnoException | null> {
  // A client that connects now is rejected at once instead of waiting.
  const server = createServer((socket) => void socket.destroy())
  try {
    server.listen({ host: withoutBrackets(host), port })
    await once(server, 'listening')
    return null
  } catch (error) {
    return error as NodeJS.ErrnoException
  } finally {
    server.close()
  }
}

type Address = Pick<Config['server'], 'host' | 'port'>

/** Refuses to start on an unusable address before anything is created. Another program may still take it afterwards. */
export async function checkAddress(address: Address, data: string): Promise<void> {
  if (address.port === 0) return
  const problem = await tryListening(address)
  if (problem === null) return
  if (problem.code === 'EADDRINUSE') {
    await refuseSameData(address.port, data)
    await refuseOtherEscapement(problem, address)
  }
  throw listenError(problem, address)
}

/** Reports a second start on the same data directory, with the address of the running server. */
async function refuseSameData(port: number, data: string): Promise<void> {
  const running = (await findServers(data)).find(({ url, pid }) => new URL(url).port === String(port) && isAlive(pid))
  if (running !== undefined)
    throw new StartError(
      `Escapement already runs on this data directory: ${running.url}, process ${running.pid}. Use it, or stop it first. ` +
        `To start another server, choose another port: --port 0 picks a free one.`,
    )
}

/** Reports that the port is taken by an Escapement with another data directory. */
async function refuseOtherEscapement(problem: NodeJS.ErrnoException, address: Address): Promise<void> {
  const url = `http://${reachable(address.host)}:${address.port}`
  if (!(await isEscapement(url))) return
  throw new StartError(
    [
      listenError(problem, address).message,
      `  That program is Escapement, at ${url}. To use it, run commands in its directory, or with --data.`,
    ].join('\n'),
    { cause: problem },
  )
}

/** Time limit of the request that identifies the program on the port. */
const IDENTIFY_TIMEOUT_MS = 1_000

async function isEscapement(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/api/v1/version`, { signal: AbortSignal.timeout(IDENTIFY_TIMEOUT_MS) })
    return ((await answer.json()) as { readonly name?: unknown }).name === 'escapement'
  } catch {
    return false
  }
}

/** The error for an address that cannot be listened on. */
export function listenError(error: NodeJS.ErrnoException, { host, port }: Address): StartError {
  const where = `port ${port} of ${host}`
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `Another program listens on ${where}. Stop it, or choose another port: --port 0 picks a free one.`,
    EACCES: `This user is not allowed to listen on ${where}. Choose a port above 1023: --port 7420`,
    EADDRNOTAVAIL: `${host} is not an address of this machine. Listen on 127.0.0.1, or on an address of this machine: --host ADDRESS`,
    ENOTFOUND: `Cannot resolve ${host}. Listen on 127.0.0.1, or on an address of this machine: --host ADDRESS`,
  }
  return new StartError(messages[error.code ?? ''] ?? `Cannot listen on ${where}: ${error.message}`, {
    cause: error,
  })
}
