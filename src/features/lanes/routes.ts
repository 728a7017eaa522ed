import { z } from 'zod'
import { lane, lanePage, laneSize, type LaneView } from './schema.ts'
import { OPERATOR_ORG } from '../../domain/access/access.ts'
import type { OrgId } from '../../domain/ids.ts'
import { setLane } from './service.ts'
import type { OperationContext } from '../../operations/context.ts'
import { operation } from '../../operations/handler.ts'

/** The org whose work the caller sees: the operator sees all orgs (null). */
const visibleOrg = (orgId: OrgId): OrgId | null => (orgId === OPERATOR_ORG ? null : orgId)

/** A lane that this node does not have yet. */
const UNUSED_LANE = { active: 0, pending: 0, max_per_org: null, largest_org: null }

/** Applies a lane size on this node before the response; other nodes apply it within a second. */
export async function applyLane(
  ctx: Pick<OperationContext, 'config' | 'work'>,
  orgId: OrgId,
  { name, concurrency }: Pick<LaneView, 'name' | 'concurrency'>,
): Promise<LaneView> {
  await ctx.config.refresh()
  const shown = ctx.work.lanes(visibleOrg(orgId)).find((lane) => lane.name === name)
  return { ...(shown ?? UNUSED_LANE), name, concurrency }
}

/** Operations on lanes: named pools of execution slots. */
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
  }).by(({ ctx, caller }) => ({ items: ctx.work.lanes(visibleOrg(caller.orgId)), next_cursor: null })),
  'lanes.set': operation({
    ...{ method: 'PUT', path: '/api/v1/lanes/:name', tag: 'lanes', permission: 'admin:*', operatorOnly: true },
    summary: 'Set the size of a lane on every node',
    description:
      'A lane that does not exist is created. A smaller size does not stop running work; it only admits less new work.',
    params: z.strictObject({ name: z.string().min(1).max(100) }),
    body: laneSize,
    answers: { 200: lane },
    examples: { body: { concurrency: 50 } },
  }).by(async ({ ctx, ports, caller, params, body }) => {
    const set = await setLane(ports, caller, { name: params.name, concurrency: body.concurrency })
    return applyLane(ctx, caller.orgId, set)
  }),
}
