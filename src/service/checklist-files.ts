import { constants } from 'node:fs'
import { open, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { OPERATOR_ORG } from '../domain/access/access.ts'
import type { OrgId } from '../domain/ids.ts'

/** What a checklist says, or why nobody can know. */
export type ReadChecklist =
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string }

/** Checklists that are files of the operator. */
export interface ChecklistFiles {
  /** Whether the operator has said where they are. */
  readonly isOpen: () => boolean
  readonly read: (orgId: OrgId, file: string) => Promise<ReadChecklist>
}

/** More than this nobody checks, and no model should be told by accident. */
const MOST_BYTES = 256 * 1024

const PLAIN_NAME = /^[A-Za-z0-9][\w.-]*$/

/**
 * Checklists below a directory: of the operator's org in the directory itself, of every other org in the directory of its
 * name inside. What leads out of it, also by a link, is refused each time it is read.
 */
export function createChecklistFiles(directory: () => string | null): ChecklistFiles {
  return {
    isOpen: () => directory() !== null,
    read: async (orgId, file) => {
      const top = directory()
      if (top === null) return refuse('heartbeat.checklist_dir is not set')
      if (orgId === OPERATOR_ORG) return readBelow(top, file)
      // A program that embeds us names its orgs as it likes.
      if (!PLAIN_NAME.test(orgId)) return refuse(`${orgId} cannot be the name of a directory`)
      return readBelow(path.join(top, orgId), file)
    },
  }
}

const refuse = (problem: string): ReadChecklist => ({ ok: false, problem })

async function readBelow(directory: string, file: string): Promise<ReadChecklist> {
  try {
    const top = await realpath(directory)
    const real = await realpath(path.join(top, file))
    if (!real.startsWith(top + path.sep)) return refuse(`${file} leads out of the directory of checklists`)
    // Asked before it is opened: what is no file may keep whoever opens it waiting for ever.
    if (!(await stat(real)).isFile()) return refuse(`${file} is not a file`)
    return await readFile(real, file)
  } catch (error) {
    return refuse(`${file} cannot be read: ${codeOf(error)}`)
  }
}

async function readFile(real: string, name: string): Promise<ReadChecklist> {
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const buffer = Buffer.alloc(MOST_BYTES + 1)
    let used = 0
    for (;;) {
      const { bytesRead } = await handle.read(buffer, used, buffer.length - used)
      used += bytesRead
      if (bytesRead === 0 || used > MOST_BYTES) break
    }
    if (used > MOST_BYTES) return refuse(`${name} has more than ${MOST_BYTES} bytes`)
    // No row can hold NUL, and what is told to an agent is kept in one.
    return { ok: true, text: buffer.subarray(0, used).toString('utf8').replaceAll('\0', '\u2400') }
  } finally {
    await handle.close()
  }
}

/** `ENOENT` says enough, and no path of the operator's machine. */
const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'it failed'
