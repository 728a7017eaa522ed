import { accessSync, constants, mkdtempSync, statfsSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const MEMORY = '/dev/shm'

/** Less than this and a run of all tests might fill it; a container's default is 64 MiB. */
const ENOUGH_BYTES = 4 * 2 ** 30

/**
 * A new directory for a server whose data nobody has to find again: in memory where the machine offers enough of it,
 * because making a database is making a thousand files, which takes ten times as long on a disk.
 */
export function makeScratch(prefix: string): string {
  return mkdtempSync(path.join(hasRoomInMemory() ? MEMORY : os.tmpdir(), prefix))
}

function hasRoomInMemory(): boolean {
  try {
    accessSync(MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ENOUGH_BYTES
  } catch {
    return false
  }
}
