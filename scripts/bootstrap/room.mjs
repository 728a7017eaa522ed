import { statfsSync } from 'node:fs'
import { Stop } from './stop.mjs'

const MEGABYTE = 1_000_000

/** Stops before anything is written when the disk has less room than the work will need. */
export function needRoom(root, megabytes, what) {
  const free = freeMegabytes(root)
  if (free !== undefined && free < megabytes)
    throw new Stop(
      `The disk is too full to ${what}: that needs ${megabytes} MB, and ${free} MB are free. Make room and run the command again.`,
    )
}

/** What remains to be said when the disk became full all the same. */
export const FULL_DISK = 'The disk is full. Make room and run the command again.'

function freeMegabytes(root) {
  try {
    const { bavail, bsize } = statfsSync(root)
    return Math.floor((bavail * bsize) / MEGABYTE)
  } catch {
    // Some file systems do not say; then the work itself finds out.
    return undefined
  }
}
