import { z } from 'zod'
import { id, pageOf } from '../../api/common.ts'
import { MAX_LANE_SLOTS } from '../../platform/config/engine-keys.ts'
import { named, type Shape, integerBetween } from '../../api/fields.ts'

export const lane = named(
  'Lane',
  z.strictObject({
    ...{
      name: z.string(),
      concurrency: z.int(),
      active: z.int().describe('Slots in use.'),
      pending: z.int().describe('Queued runs.'),
    },
    max_per_org: z
      .int()
      .nullable()
      .describe(
        'Slots that one org may use on a node. Null: all, because there is one org or `lanes.max_org_share` is 1.',
      ),
    largest_org: z
      .strictObject({ org_id: id, held: z.int() })
      .nullable()
      .describe('The org that uses the most slots on this node. Shown only to the operator, where orgs share lanes.'),
  }),
  'A lane of this node.',
)
export type LaneView = Shape<typeof lane>

export const lanePage = pageOf('LanePage', lane)

/** The size of a lane on every node. 0 is refused, because no run could start in the lane. */
export const laneSize = named('LaneSize', z.strictObject({ concurrency: integerBetween(1, MAX_LANE_SLOTS) }))
