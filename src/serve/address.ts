import type { Config } from '../platform/config/keys.ts'
import { reachable } from './loopback.ts'
import { StartRefused } from './start-refused.ts'
import { tryListening } from './try-listening.ts'
import { findServers, isAlive } from './paths.ts'

type Address = Pick<Config['server'], 'host' | 'port'>

/** Refuses a start on an address that cannot be had, while nothing is made yet. Somebody may still take it afterwards. */
export async function checkAddress(address: Address, data: string): Promise<void> {
  if (address.port === 0) return
  const problem = await tryListening(address)
  if (problem === null) return
  if (problem.code === 'EADDRINUSE') {
    await checkSameData(address.port, data)
    await checkOtherData(problem, address)
  }
  throw notListening(problem, address)
}

/** Whoever starts twice wants to know that it runs already, and where. */
async function checkSameData(port: number, data: string): Promise<void> {
  const there = (await findServers(data)).find(({ url, pid }) => new URL(url).port === String(port) && isAlive(pid))
  if (there !== undefined)
    throw new StartRefused(
      `Escapement runs on this data already: ${there.url}, process ${there.pid}. Open that, or end it first; ` +
        `another server beside it takes another port: --port 0 finds a free one.`,
    )
}

/** Another project's server, say; its commands do not find it from here. */
async function checkOtherData(problem: NodeJS.ErrnoException, address: Address): Promise<void> {
  const url = `http://${reachable(address.host)}:${address.port}`
  if (!(await isEscapement(url))) return
  throw new StartRefused(
    [
      notListening(problem, address).message,
      `  It is Escapement, at ${url}: commands reach it from the directory it was started in, or with --data.`,
    ].join('\n'),
    { cause: problem },
  )
}

/** Nobody who starts something waits longer to learn who was there first. */
const ASK_MS = 1_000

async function isEscapement(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/api/v1/version`, { signal: AbortSignal.timeout(ASK_MS) })
    return ((await answer.json()) as { readonly name?: unknown }).name === 'escapement'
  } catch {
    return false
  }
}

/** Why an address cannot be listened on, and what to do about it. */
export function notListening(error: NodeJS.ErrnoException, { host, port }: Address): StartRefused {
  const where = `port ${port} of ${host}`
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `Another program listens on ${where}. End it, or take another port: --port 0 finds a free one.`,
    EACCES: `This user may not listen on ${where}. Take a port above 1023: --port 7420`,
    EADDRNOTAVAIL: `${host} is no address of this machine. Listen on 127.0.0.1, or name one that is: --host ADDRESS`,
    ENOTFOUND: `${host} is no name this machine knows. Listen on 127.0.0.1, or name an address: --host ADDRESS`,
  }
  return new StartRefused(messages[error.code ?? ''] ?? `It cannot listen on ${where}: ${error.message}`, {
    cause: error,
  })
}
