import { z } from 'zod'
import { lane, lanePage, laneSize, type LaneView } from './schema.ts'
import { OPERATOR_ORG } from '../../domain/access/access.ts'
import type { OrgId } from '../../domain/ids.ts'
import { setLane } from '../../service/lanes.ts'
import type { OperationContext } from '../../operations/context.ts'
import { operation } from '../../operations/handler.ts'

/** The operator sees everybody's work, others their own. */
const seenBy = (orgId: OrgId): OrgId | null => (orgId === OPERATOR_ORG ? null : orgId)

/** A lane of which this node knows nothing yet. */
const UNUSED = { active: 0, pending: 0, max_per_org: null, largest_org: null }

/** Shows a lane that was just set: other nodes follow within a second, this one has it when the answer arrives. */
export async function takeLane(
  ctx: Pick<OperationContext, 'config' | 'work'>,
  orgId: OrgId,
  { name, concurrency }: Pick<LaneView, 'name' | 'concurrency'>,
): Promise<LaneView> {
  await ctx.config.refresh()
  const shown = ctx.work.lanes(seenBy(orgId)).find((lane) => lane.name === name)
  return { ...(shown ?? UNUSED), name, concurrency }
}

/** Named pools of execution slots. */
export const laneOperations = {
  'lanes.list': operation({
    ...{ method: 'GET', path: '/api/v1/lanes', tag: 'lanes', permission: 'runs:read' },
    summary: 'List lanes',
    description: 'Sizes are per node. The operator sees the work of all orgs, other orgs see their own.',
    answers: { 200: lanePage },
    examples: {
      answer: {
        items: [
          {
            ...{ name: 'main', concurrency: 30, active: 2, pending: 0 },
            ...{ max_per_org: 24, largest_org: { org_id: 'acme', held: 2 } },
          },
        ],
        next_cursor: null,
      },
    },
  }).by(({ ctx, caller }) => ({ items: ctx.work.lanes(seenBy(caller.orgId)), next_cursor: null })),
  'lanes.set': operation({
    ...{ method: 'PUT', path: '/api/v1/lanes/:name', tag: 'lanes', permission: 'admin:*', operatorOnly: true },
    summary: 'Set the size of a lane on every node',
    description:
      'A lane that does not exist is created. A smaller size does not stop running work; it only admits less.',
    params: z.strictObject({ name: z.string().min(1).max(100) }),
    body: laneSize,
    answers: { 200: lane },
    examples: { body: { concurrency: 50 } },
  }).by(async ({ ctx, ports, caller, params, body }) => {
    const set = await setLane(ports, caller, { name: params.name, concurrency: body.concurrency })
    return takeLane(ctx, caller.orgId, set)
  }),
}
