import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { PACKAGE_ROOT } from '../package-root.ts'
import { DatabaseError } from './database-error.ts'

export interface Migration {
  readonly number: number
  readonly name: string
  readonly checksum: string
  readonly sql: string
}

export const MIGRATIONS_DIRECTORY = fileURLToPath(new URL('migrations', PACKAGE_ROOT))

const FILE = /^(\d{4})_([a-z0-9_]+)\.sql$/

/** Reads the numbered files of a directory, in order. A gap, a repeated number or a stray file is refused. */
export async function readMigrations(directory: string): Promise<readonly Migration[]> {
  const files = await readdir(directory).catch((cause: unknown) => {
    throw new DatabaseError('migrations_unreadable', { detail: directory, cause })
  })
  const migrations = await Promise.all(
    files.filter((file) => file.endsWith('.sql')).map((file) => readMigration(directory, file)),
  )
  const ordered = migrations.sort((a, b) => a.number - b.number)
  const wrong = ordered.find((migration, index) => migration.number !== index + 1)
  if (wrong !== undefined || ordered.length === 0)
    throw new DatabaseError('migrations_unreadable', {
      detail: wrong === undefined ? `${directory} is empty` : `the numbers have a gap or repeat at ${wrong.name}`,
    })
  return ordered
}

async function readMigration(directory: string, file: string): Promise<Migration> {
  const match = FILE.exec(file)
  if (match === null)
    throw new DatabaseError('migrations_unreadable', { detail: `${file} is not named 0001_words.sql` })
  // Line ends differ between checkouts of the same commit; they must not look like an edit.
  const sql = (await readFile(path.join(directory, file), 'utf8')).replaceAll('\r\n', '\n')
  const checksum = createHash('sha256').update(sql).digest('hex')
  return { number: Number(match[1]), name: file.slice(0, -'.sql'.length), checksum, sql }
}
