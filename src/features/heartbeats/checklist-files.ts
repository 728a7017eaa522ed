import { constants } from 'node:fs'
import { open, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { OPERATOR_ORG } from '../../domain/access/access.ts'
import type { OrgId } from '../../domain/ids.ts'

/** The text of a checklist, or why it cannot be read. */
export type ChecklistRead =
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string }

/** Reads the checklists that are files in the operator's directory. */
export interface ChecklistFiles {
  /** Whether `heartbeat.checklist_dir` is set. */
  readonly isOpen: () => boolean
  readonly read: (orgId: OrgId, file: string) => Promise<ChecklistRead>
}

/** Keeps a large file from being sent to a model by accident. */
const MAX_CHECKLIST_BYTES = 256 * 1024

const PLAIN_NAME = /^[A-Za-z0-9][\w.-]*$/

/**
 * Reads checklists below a directory: those of the operator org from the directory itself, those of any other org from
 * the subdirectory named after the org. Each read refuses a path that leads outside, also through a symbolic link.
 */
export function createChecklistFiles(directory: () => string | null): ChecklistFiles {
  return {
    isOpen: () => directory() !== null,
    read: async (orgId, file) => {
      const rootPath = directory()
      if (rootPath === null) return failedRead('heartbeat.checklist_dir is not set')
      if (orgId === OPERATOR_ORG) return readBelow(rootPath, file)
      // A program that embeds Escapement may use any text as an org id.
      if (!PLAIN_NAME.test(orgId)) return failedRead(`org id '${orgId}' cannot be used as a directory name`)
      return readBelow(path.join(rootPath, orgId), file)
    },
  }
}

const failedRead = (problem: string): ChecklistRead => ({ ok: false, problem })

async function readBelow(directory: string, file: string): Promise<ChecklistRead> {
  try {
    const rootPath = await realpath(directory)
    const realPath = await realpath(path.join(rootPath, file))
    if (!realPath.startsWith(rootPath + path.sep)) return failedRead(`${file} is outside the checklist directory`)
    // Checked before opening: opening a named pipe or a device may block forever.
    if (!(await stat(realPath)).isFile()) return failedRead(`${file} is not a file`)
    return await readFile(realPath, file)
  } catch (error) {
    return failedRead(`${file} cannot be read: ${systemErrorCode(error)}`)
  }
}

async function readFile(realPath: string, name: string): Promise<ChecklistRead> {
  const handle = await open(realPath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const buffer = Buffer.alloc(MAX_CHECKLIST_BYTES + 1)
    let used = 0
    for (;;) {
      const { bytesRead } = await handle.read(buffer, used, buffer.length - used)
      used += bytesRead
      if (bytesRead === 0 || used > MAX_CHECKLIST_BYTES) break
    }
    if (used > MAX_CHECKLIST_BYTES) return failedRead(`${name} is larger than ${MAX_CHECKLIST_BYTES / 1024} KiB`)
    // PostgreSQL cannot store NUL in a text, and the prompt of a run is stored.
    return { ok: true, text: buffer.subarray(0, used).toString('utf8').replaceAll('\0', '\u2400') }
  } finally {
    await handle.close()
  }
}

/** The code alone, such as `ENOENT`: the full message would show a path of the operator's machine. */
const systemErrorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
