import type { Transaction } from './database.ts'

/** A place in a transaction to which it can go back. Names are fixed words of the program. */
export type Savepoint = 'whole' | 'piece'

const TEXTS = {
  whole: ['savepoint whole', 'release savepoint whole', 'rollback to savepoint whole'],
  piece: ['savepoint piece', 'release savepoint piece', 'rollback to savepoint piece'],
} as const

/** Remembers where the transaction is. */
export function setSavepoint(tx: Transaction, name: Savepoint): void {
  tx.send(TEXTS[name][0], [])
}

/** Forgets the place: there is no way back to it any more. */
export function releaseSavepoint(tx: Transaction, name: Savepoint): void {
  tx.send(TEXTS[name][1], [])
}

/** Takes back everything since the place, which stays remembered. */
export async function goBackTo(tx: Transaction, name: Savepoint): Promise<void> {
  await tx.query(TEXTS[name][2], [])
}
