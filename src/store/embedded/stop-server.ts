import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive, isServerOf } from './pid-file.ts'
import { type Place } from './place.ts'
import { type Reference } from './reference.ts'

/** A shutdown writes everything to disk; on a slow one with much to write it takes its time. */
const LONGEST_STOP_MS = 30_000

/**
 * Stops the server ("fast": no more statements, everything on disk). The reference still holds the exclusive lock, so
 * the server is alive and its process number is really its own.
 */
export async function stopServer({ client, pid }: Reference, place: Place): Promise<void> {
  if ((await isServerOf(pid, place.cluster)) === false) return
  const gone = new Promise<void>((resolve) => client.once('end', resolve))
  try {
    process.kill(pid, 'SIGINT')
  } catch {
    return
  }
  const deadline = performance.now() + LONGEST_STOP_MS
  await Promise.race([gone, sleep(LONGEST_STOP_MS, undefined, { ref: false })])
  while (isAlive(pid) && (await isServerOf(pid, place.cluster)) !== false && performance.now() < deadline)
    await sleep(5)
}
