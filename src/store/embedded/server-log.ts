import { constants } from 'node:fs'
import { copyFile, open, truncate, type FileHandle } from 'node:fs/promises'
import { codeOf, refuseFile } from './files.ts'

/** Two files of at most about this size: the current one and the one before. */
const LARGEST_LOG_BYTES = 5 * 1024 * 1024

/**
 * Opens the server's log for appending. It is a plain file and not a pipe, because the server may outlive us; no link
 * is followed, because we may be root.
 */
export async function openLog(file: string): Promise<FileHandle> {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants
  return open(file, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600).catch((error: unknown) => {
    throw refuseFile(error, file)
  })
}

/** What was written to the log since it had the given length, at most the last 8 KiB of it. */
export async function readLogSince(handle: FileHandle, start: number): Promise<string> {
  const { size } = await handle.stat()
  const from = Math.max(start, size - 8192, 0)
  const buffer = Buffer.alloc(Math.max(size - from, 0))
  await handle.read(buffer, 0, buffer.length, from)
  return buffer.toString('utf8')
}

/**
 * Keeps the log small. The server appends, so cutting the file off under its hands is safe; lines written between the
 * copy and the cut are lost, which a log can afford.
 */
export async function trimLog(file: string, largest = LARGEST_LOG_BYTES): Promise<void> {
  try {
    if ((await sizeOf(file)) <= largest) return
    await copyFile(file, `${file}.1`)
    await truncate(file, 0)
  } catch (error) {
    if (codeOf(error) !== undefined) return
    throw error
  }
}

async function sizeOf(file: string): Promise<number> {
  const handle = await openLog(file)
  try {
    return (await handle.stat()).size
  } finally {
    await handle.close()
  }
}
