import { createHash } from 'node:crypto'
import { DEFAULT_SCHEMA, type Transaction } from './database.ts'

/** Names of savepoints; fixed words, because they are part of the SQL text. */
type Savepoint = 'whole' | 'piece'

const TEXTS = {
  whole: ['savepoint whole', 'release savepoint whole', 'rollback to savepoint whole'],
  piece: ['savepoint piece', 'release savepoint piece', 'rollback to savepoint piece'],
} as const

/** Sets a savepoint. */
export function setSavepoint(tx: Transaction, name: Savepoint): void {
  tx.send(TEXTS[name][0], [])
}

/** Releases a savepoint. */
export function releaseSavepoint(tx: Transaction, name: Savepoint): void {
  tx.send(TEXTS[name][1], [])
}

/** Rolls back to a savepoint, which stays set. */
export async function rollBackToSavepoint(tx: Transaction, name: Savepoint): Promise<void> {
  await tx.query(TEXTS[name][2], [])
}

/**
 * Advisory locks share one number space per database. Our locks are pairs: the kind of object, from this table, and the
 * object.
 */
export const LOCK_SPACE = {
  migration: 0x0e5c_0001,
  embeddedReference: 0x0e5c_0002,
  org: 0x0e5c_0003,
  history: 0x0e5c_0004,
  sealingKey: 0x0e5c_0005,
} as const

/** The second number of a lock, from a name. */
export const lockNumber = (name: string): number => createHash('sha256').update(name).digest().readInt32BE(0)

/**
 * The lock of a schema, so that deployments in different schemas of one database do not block each other. In the default
 * schema the number is unchanged, because nodes of 0.1.0 use it.
 */
export const lockIn = (schema: string, [space, number]: readonly [number, number]): readonly [number, number] => [
  space,
  schema === DEFAULT_SCHEMA ? number : number ^ lockNumber(schema),
]
