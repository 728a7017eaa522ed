import type { NodeView } from '../features/nodes/schema.ts'
import type { AlertKind } from '../domain/alerts.ts'
import type { PendingState } from '../domain/run/run-machine.ts'
import type { ScheduleState } from '../domain/schedule/lifecycle.ts'
import { countAllPending, countAllSchedules, countOpenAlerts, hasManyOrgs } from '../features/stats/store.ts'
import { findNodes } from './nodes.ts'
import type { Ports } from './ports.ts'

/** What there is in the whole deployment, counted in the database. */
export interface DeploymentCounts {
  readonly schedules: Readonly<Partial<Record<ScheduleState, number>>>
  readonly pending: Readonly<Partial<Record<PendingState, number>>>
  /** Open ones, by kind. */
  readonly alerts: Readonly<Partial<Record<AlertKind, number>>>
  readonly nodes: readonly NodeView[]
}

/** Counts what there is. Takes as long as there are schedules and pending runs: not for every request. */
export async function readDeploymentCounts(ports: Pick<Ports, 'database' | 'clock'>): Promise<DeploymentCounts> {
  // One after the other: whoever watches takes one connection at a time.
  const schedules = await countAllSchedules(ports.database)
  const pending = await countAllPending(ports.database)
  const alerts = await countOpenAlerts(ports.database)
  return { schedules, pending, alerts, nodes: await findNodes(ports) }
}

/** Whether the deployment has one org and no other. */
export const hasOneOrg = async ({ database }: Pick<Ports, 'database'>): Promise<boolean> =>
  !(await hasManyOrgs(database))
