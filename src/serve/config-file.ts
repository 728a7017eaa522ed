import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { readConfigText, type ReadFile } from '../config/file.ts'

/** Where a configuration file is looked for. */
export interface FilePlaces {
  /** The one that was named: it has to be there. */
  readonly named: string | null
  /** Where the data directory is, as far as flags, environment and default say. */
  readonly data: string
  readonly cwd: string
}

/** The text of a configuration file; null when nobody has written one. */
export interface FoundFile {
  readonly path: string
  readonly text: string
}

const candidates = ({ named, data, cwd }: FilePlaces): readonly string[] =>
  (named === null ? [path.join(data, 'config.yaml'), 'escapement.yaml'] : [named]).map((one) => path.resolve(cwd, one))

/** Reads the file that was named, else the first that is there. Throws when it is there and cannot be read. */
export async function findConfigFile(places: FilePlaces): Promise<FoundFile | null> {
  for (const file of candidates(places))
    try {
      return { path: file, text: await readFile(file, 'utf8') }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOTDIR' && places.named === null) throw noDirectory(path.dirname(file))
      if (code !== 'ENOENT' || places.named !== null) throw unreadable(file, error as NodeJS.ErrnoException)
    }
  return null
}

/** The directories in which a configuration file may appear or change, and the names it may have there. */
export function watchedDirectories(places: FilePlaces): ReadonlyMap<string, ReadonlySet<string>> {
  const watched = new Map<string, Set<string>>()
  for (const file of candidates(places)) {
    const names = watched.get(path.dirname(file)) ?? new Set()
    watched.set(path.dirname(file), names.add(path.basename(file)))
  }
  return watched
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
  EISDIR: 'it is a directory',
}

const unreadable = (file: string, { code = '', message }: NodeJS.ErrnoException): Error =>
  new Error(`${file} cannot be read: ${REASONS[code] ?? message}`)

/** Somebody who has named no configuration file has not asked for one: it is the data directory that is wrong. */
const noDirectory = (data: string): Error =>
  new Error(`${data} is no directory. Name one for the data that is there or can be made: --data DIRECTORY`)

/** Everything that is wrong with a file, one line each, as compilers say it. */
export const fileComplaints = (file: string, read: Extract<ReadFile, { readonly ok: false }>): readonly string[] =>
  read.flaws.map(({ line, message }) => `${file}:${line}: ${message}`)

/** What a file says. */
export const readFound = ({ text }: FoundFile): ReadFile => readConfigText(text)
