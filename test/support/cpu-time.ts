import { existsSync, readFileSync } from 'node:fs'

const OWN_CPU = '/proc/thread-self/schedstat'
const hasOwnCpu = existsSync(OWN_CPU)

/**
 * Milliseconds of processor time that this thread has had. Not the time of day: on a busy machine that passes for
 * others too. Where the system does not tell it for one thread, it is that of the process.
 */
export function cpuMs(): number {
  if (hasOwnCpu) return Number(readFileSync(OWN_CPU, 'latin1').split(' ', 1)[0]) / 1e6
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e3
}
