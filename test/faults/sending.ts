import type { Row, SqlValue, Transaction } from '../../src/platform/db/database.ts'

/** How a statement is carried out. */
export type Statement = (text: string, params?: readonly SqlValue[]) => Promise<readonly Row[]>

/** A transaction whose statements go through somebody else's hands. `sent` are those that nobody else waits for. */
export function transactionThrough(query: Statement): {
  readonly tx: Transaction
  readonly sent: () => Promise<unknown>
} {
  const sent: Promise<unknown>[] = []
  const send: Transaction['send'] = (text, params) => {
    const answer = query(text, params)
    answer.catch(() => undefined)
    sent.push(answer)
  }
  return { tx: { inTransaction: true, query, send }, sent: () => Promise.all(sent) }
}
