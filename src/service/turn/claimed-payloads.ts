import type { RunId } from '../../core/ids.ts'
import type { Transaction } from '../../store/database.ts'
import { loadPayloads } from '../../store/run-reads.ts'
import { noteStated } from '../desk/quotas.ts'
import type { Claim } from './claim.ts'
import type { Memory } from './memory.ts'

type Taken = Pick<Claim, 'run' | 'payload'>
type Payloads = ReadonlyMap<RunId, unknown>
const NO_PAYLOADS: Promise<Payloads> = Promise.resolve(new Map())

/** Asks for the payloads that are not in memory; the rest of the turn is sent before they have arrived. */
export function readPayloads(tx: Transaction, { desk }: Memory, taken: readonly Taken[]): Promise<Payloads> {
  const ids = taken.filter(({ payload }) => payload === undefined).map(({ run }) => run.id)
  if (ids.length === 0) return NO_PAYLOADS
  const read = async (): Promise<Payloads> => {
    const payloads = await loadPayloads(tx, { orgId: desk.orgId, ids })
    if (desk.quotas !== null)
      for (const { run } of taken)
        if (payloads.has(run.id)) noteStated(desk, desk.quotas, { run, payload: payloads.get(run.id) })
    return payloads
  }
  const reading = read()
  // A statement that fails first ends the turn before this answer is waited for.
  reading.catch(() => undefined)
  return reading
}

/** The same with what they were given to do. */
export const withPayloads = <Item extends Taken>(taken: readonly Item[], payloads: Payloads): readonly Item[] =>
  payloads.size === 0
    ? taken
    : taken.map((item) => (item.payload === undefined ? { ...item, payload: payloads.get(item.run.id) } : item))
