import type { ExplainStep } from '../../contract/explain.ts'
import type { Connection } from '../../store/database.ts'
import { loadTries, type DeliveryRecord } from '../../store/deliveries.ts'

/** The tries of a delivery, in order. */
export async function trySteps(
  database: Connection,
  { orgId, id, triesInAll }: Pick<DeliveryRecord, 'orgId' | 'id' | 'triesInAll'>,
): Promise<readonly ExplainStep[]> {
  const tries = triesInAll === 0 ? [] : await loadTries(database, { orgId, ids: [id] })
  return tries.map(({ number, ok, message, errorCode, statusCode }) => ({
    ...{ stage: 'delivery', name: `try ${number}`, state: ok ? 'passed' : 'closed' },
    sentence: ok ? 'It arrived.' : `It failed: ${message ?? errorCode ?? `status ${statusCode ?? 0}`}.`,
  }))
}
