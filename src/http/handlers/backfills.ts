import type { backfillOperations } from '../../operations/backfills.ts'
import { cancelBackfill, findBackfills, getBackfill, startBackfill } from '../../service/backfill/backfills.ts'
import { answer, type HandlersOf } from '../call.ts'

/** Past moments of schedules that are made into runs. Whoever begins one wakes the loop that looks after it. */
export const backfillHandlers: HandlersOf<typeof backfillOperations> = {
  'schedules.backfill': async ({ ctx, ports, caller, params, body }) => {
    const begun = await startBackfill(ports, caller, { id: params.id, input: body })
    if (begun.id === null) return answer(200, begun)
    ctx.wakeSchedules()
    return answer(202, begun)
  },
  'backfills.list': ({ ports, caller, query }) => findBackfills(ports, caller, query),
  'backfills.get': ({ ports, caller, params }) => getBackfill(ports, caller, params.id),
  'backfills.cancel': ({ ports, caller, params, body }) =>
    cancelBackfill(ports, caller, { id: params.id, cancel: body }),
}
