import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { withoutComments } from '../../core/json-comments.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from './usage.ts'

/** A file as somebody named it, `-` for stdin, and what stands in it. */
export interface GivenFile {
  readonly name: string
  readonly text: string
}

const placeOf = (terminal: Terminal, file: string): string => path.resolve(terminal.cwd ?? process.cwd(), file)

const unreadable = (name: string) => (error: unknown) => {
  throw new UsageError(`${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
}

/** What stands in a file, or comes from stdin for `-`; `called` is what a complaint calls it. */
export const readText = (terminal: Terminal, file: string, called = file): Promise<string> =>
  (file === '-' ? readAll(terminal.stdin) : readFile(placeOf(terminal, file), 'utf8')).catch(unreadable(called))

const IN_DIRECTORY = /\.(?:ya?ml|json)$/i

/** The same of several; of a directory the files of YAML and JSON right in it, by name. */
export async function readFiles(terminal: Terminal, given: readonly string[]): Promise<readonly GivenFile[]> {
  const files: GivenFile[] = []
  for (const file of given)
    for (const name of await namesIn(terminal, file))
      files.push({ name: name === '-' ? 'stdin' : name, text: withoutComments(await readText(terminal, name)) })
  return files
}

async function namesIn(terminal: Terminal, file: string): Promise<readonly string[]> {
  if (file === '-') return [file]
  const place = placeOf(terminal, file)
  if (!(await stat(place).catch(unreadable(file))).isDirectory()) return [file]
  const names = (await readdir(place).catch(unreadable(file))).filter((name) => IN_DIRECTORY.test(name)).toSorted()
  if (names.length === 0) throw new UsageError(`${file} has no files that end in .yaml, .yml or .json`)
  return names.map((name) => path.join(file, name))
}
