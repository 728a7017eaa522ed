import { randomBytes } from 'node:crypto'
import { DatabaseError } from '../database-error.ts'
import { readTextIfThere, writeOnce } from './files.ts'

/** The server's password: made by the first process that needs one, the same for all others. */
export async function loadPassword(file: string, isNew: boolean): Promise<string> {
  const known = await readTextIfThere(file)
  if (known !== undefined) return checked(known, file)
  // A server that exists has a password; a new one would only lock us out with more certainty.
  if (!isNew) throw new DatabaseError('password_missing', { detail: file })
  await writeOnce(file, `${randomBytes(32).toString('base64url')}\n`)
  return checked((await readTextIfThere(file)) ?? '', file)
}

function checked(text: string, file: string): string {
  const password = text.trim()
  if (password === '') throw new DatabaseError('password_missing', { detail: `${file} is empty` })
  return password
}
