import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { KeptInput } from './part.ts'

/** Where the inputs of a part are kept. */
const corpusOf = (part: string): string => fileURLToPath(new URL(`./corpus/${part}`, import.meta.url))

/** The inputs of a part that were worth keeping, file by file; a file holds one or a list of them. */
export function readCorpus(part: string): readonly KeptInput[] {
  const directory = corpusOf(part)
  if (!existsSync(directory)) return []
  return readdirSync(directory)
    .toSorted()
    .flatMap((name) => readKept(path.join(directory, name)))
}

/** The inputs in a file. A finding is kept in the same shape, with more around it. */
export function readKept(file: string): readonly KeptInput[] {
  const read: unknown = JSON.parse(readFileSync(file, 'utf8'))
  return [read].flat() as readonly KeptInput[]
}
