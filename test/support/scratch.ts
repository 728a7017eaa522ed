import { accessSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const MEMORY = '/dev/shm'

/** Less than this and a run of all tests might fill it; a container's default is 64 MiB. */
const ENOUGH_BYTES = 4 * 2 ** 30

/**
 * A new directory for a server whose data nobody has to find again: in memory where the machine offers enough of it,
 * because making a database is making a thousand files, which takes ten times as long on a disk.
 * Programs can be run from it only if that is said: some machines allow it on disks alone.
 */
export function makeScratch(prefix: string, use: 'data' | 'programs' = 'data'): string {
  if (!hasRoomInMemory()) return mkdtempSync(path.join(os.tmpdir(), prefix))
  const directory = mkdtempSync(path.join(MEMORY, prefix))
  if (use === 'data' || mayRunIn(directory)) return directory
  rmSync(directory, { recursive: true })
  return mkdtempSync(path.join(os.tmpdir(), prefix))
}

function mayRunIn(directory: string): boolean {
  const file = path.join(directory, 'program')
  writeFileSync(file, '', { mode: 0o755 })
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  } finally {
    rmSync(file)
  }
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
