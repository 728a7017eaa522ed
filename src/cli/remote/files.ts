import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { withoutComments } from '../../domain/json.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from './call.ts'

/** The content of a file, under the name the user gave. */
export interface InputFile {
  readonly name: string
  readonly text: string
}

const placeOf = (terminal: Terminal, file: string): string => path.resolve(terminal.cwd ?? process.cwd(), file)

const unreadable = (name: string) => (error: unknown) => {
  throw new UsageError(`Cannot read ${name}: ${error instanceof Error ? error.message : String(error)}`)
}

/** Reads a file, or stdin for `-`; `called` is its name in errors. */
export const readText = (terminal: Terminal, file: string, label = file): Promise<string> =>
  (file === '-' ? readAll(terminal.stdin) : readFile(placeOf(terminal, file), 'utf8')).catch(unreadable(label))

const IN_DIRECTORY = /\.(?:ya?ml|json)$/i

/** Reads several files; of a directory, its YAML and JSON files sorted by name. */
export async function readFiles(terminal: Terminal, given: readonly string[]): Promise<readonly InputFile[]> {
  const files: InputFile[] = []
  for (const file of given)
    for (const name of await namesIn(terminal, file))
      files.push({ name: name === '-' ? 'stdin' : name, text: withoutComments(await readText(terminal, name)) })
  return files
}

async function namesIn(terminal: Terminal, file: string): Promise<readonly string[]> {
  if (file === '-') return [file]
  const directory = placeOf(terminal, file)
  if (!(await stat(directory).catch(unreadable(file))).isDirectory()) return [file]
  const names = (await readdir(directory).catch(unreadable(file))).filter((name) => IN_DIRECTORY.test(name)).toSorted()
  if (names.length === 0) throw new UsageError(`Directory ${file} contains no .yaml, .yml or .json files`)
  return names.map((name) => path.join(file, name))
}
