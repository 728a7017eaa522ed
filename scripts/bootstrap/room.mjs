import { statfsSync } from 'node:fs'
import { Stop } from './stop.mjs'

const MEGABYTE = 1_000_000

/** Throws before anything is written if the disk has too little free space. */
export function needRoom(root, megabytes, what) {
  const free = freeMegabytes(root)
  if (free !== undefined && free < megabytes)
    throw new Stop(
      `The disk is too full to ${what}: that needs ${megabytes} MB, and ${free} MB are free. Make room and run the command again.`,
    )
}

/** The message if the disk becomes full nevertheless. */
export const FULL_DISK = 'The disk is full. Make room and run the command again.'

function freeMegabytes(root) {
  try {
    const { bavail, bsize } = statfsSync(root)
    return Math.floor((bavail * bsize) / MEGABYTE)
  } catch {
    // Some file systems don't report free space; then the work itself fails.
    return undefined
  }
}
