import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { ROOT } from '../tooling/root.ts'

/** Everything that is or would be committed; in a copy without Git, everything that was not made by a tool. */
export function trackedFiles(): readonly string[] {
  const listed = existsSync(path.join(ROOT, '.git')) ? listedByGit() : foundOnDisk('')
  return listed.filter((file) => file !== '' && existsSync(path.join(ROOT, file)))
}

const listedByGit = (): readonly string[] =>
  execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  }).split('\0')

const MADE_BY_TOOLS = new Set(['node_modules', 'dist', '.escapement', '.bootstrap.lock'])

function foundOnDisk(folder: string): readonly string[] {
  return readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = path.posix.join(folder, entry.name)
    if (entry.isDirectory()) return MADE_BY_TOOLS.has(entry.name) ? [] : foundOnDisk(file)
    return [file]
  })
}

export const textOf = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8')
