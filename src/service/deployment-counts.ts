import type { NodeView } from '../contract/node.ts'
import type { PendingState } from '../core/run/run-machine.ts'
import type { ScheduleState } from '../core/schedule/schedule-life.ts'
import { countAllPending, countAllSchedules, hasManyOrgs } from '../store/deployment-counts.ts'
import { findNodes } from './nodes.ts'
import type { Ports } from './ports.ts'

/** What there is in the whole deployment, counted in the database. */
export interface DeploymentCounts {
  readonly schedules: Readonly<Partial<Record<ScheduleState, number>>>
  readonly pending: Readonly<Partial<Record<PendingState, number>>>
  readonly nodes: readonly NodeView[]
}

/** Counts what there is. Takes as long as there are schedules and pending runs: not for every request. */
export async function readDeploymentCounts(ports: Pick<Ports, 'database' | 'clock'>): Promise<DeploymentCounts> {
  // One after the other: whoever watches takes one connection at a time.
  const schedules = await countAllSchedules(ports.database)
  const pending = await countAllPending(ports.database)
  return { schedules, pending, nodes: await findNodes(ports) }
}

/** Whether the deployment has one org and no other. */
export const hasOneOrg = async ({ database }: Pick<Ports, 'database'>): Promise<boolean> =>
  !(await hasManyOrgs(database))
