import { createHash } from 'node:crypto'
import { type QueryConfig } from 'pg'
import { type SqlValue } from '../database.ts'

/** More texts than this are not ours: somebody builds them at run time. They work, but are not remembered. */
const MOST_STATEMENTS = 1_000

export type NameStatement = (text: string) => string | undefined

/** Gives each statement text a name of its own, under which every connection prepares it once. */
export function createStatementNames(): NameStatement {
  const names = new Map<string, string>()
  return (text) => {
    const known = names.get(text)
    if (known !== undefined || names.size >= MOST_STATEMENTS) return known
    const name = `s_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
    names.set(text, name)
    return name
  }
}

/** The driver's form of a statement: prepared when it has parameters, plain text when it has none. */
export function statement(nameOf: NameStatement, text: string, params: readonly SqlValue[] | undefined): QueryConfig {
  if (params === undefined) return { text }
  const name = nameOf(text)
  return name === undefined ? { text, values: [...params] } : { name, text, values: [...params] }
}
