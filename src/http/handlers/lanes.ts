import type { laneOperations } from '../../operations/lanes.ts'
import { OPERATOR_ORG } from '../../core/access.ts'
import type { OrgId } from '../../core/ids.ts'
import { setLane } from '../../service/lanes.ts'
import type { HandlersOf } from '../call.ts'

/** The operator sees everybody's work, others their own. */
const seenBy = (orgId: OrgId): OrgId | null => (orgId === OPERATOR_ORG ? null : orgId)

/** A lane of which this node knows nothing yet. */
const UNUSED = { active: 0, pending: 0, max_per_org: null, largest_org: null }

/** Named pools of execution slots. */
export const laneHandlers: HandlersOf<typeof laneOperations> = {
  'lanes.list': ({ ctx, caller }) => ({ items: ctx.work.lanes(seenBy(caller.orgId)), next_cursor: null }),
  'lanes.set': async ({ ctx, ports, caller, params, body }) => {
    const { name, concurrency } = await setLane(ports, caller, { name: params.name, concurrency: body.concurrency })
    // Others follow within a second; this node has it when the answer arrives.
    await ctx.config.refresh()
    const shown = ctx.work.lanes(seenBy(caller.orgId)).find((lane) => lane.name === name)
    return { ...(shown ?? UNUSED), name, concurrency }
  },
}
