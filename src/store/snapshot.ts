import type { Database, Transaction } from './database.ts'

/** Reads in one snapshot: all that is read is the record as it was at one time, whatever is written meanwhile. */
export const inSnapshot = <Answer>(
  database: Pick<Database, 'transaction'>,
  read: (tx: Transaction) => Promise<Answer>,
): Promise<Answer> =>
  database.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only')
    return read(tx)
  })
