import { decideHeartbeatAlert } from '../../domain/alerts.ts'
import { because, explainWhy, type Why } from '../../domain/reasons.ts'
import type { HeartbeatRow } from '../../features/heartbeats/store.ts'
import { endAlert, raiseAlert } from '../desk/alerts.ts'
import type { Desk } from '../desk/desk.ts'

/** Whether a heartbeat worked, failed or had no route, or stopped for a reason that says nothing about either. */
export interface Came {
  readonly came: 'well' | 'to nothing' | 'not far'
  readonly why: Why
}

/** Counts heartbeats in a row that came to nothing, and raises or clears the alert about them. */
export function followStreak(desk: Desk, row: HeartbeatRow, { came, why }: Came): HeartbeatRow {
  if (came === 'not far') return row
  const streak = came === 'well' ? 0 : row.failingStreak + 1
  const { agentId: agent, alertId: open } = row
  const decision = decideHeartbeatAlert({
    streak,
    agent,
    problem: explainWhy(why).replace(/\.$/, ''),
    raised: open !== null,
  })
  if (decision.kind === 'none') return { ...row, failingStreak: streak }
  const id = open ?? `alr_${desk.turnNo}_${agent}`
  const alert = { id, ...aboutOf(row), why: decision.why }
  if (decision.kind === 'raise') raiseAlert(desk, alert)
  else endAlert(desk, alert)
  return { ...row, failingStreak: streak, alertId: decision.kind === 'raise' ? id : null }
}

/** A person has changed the heartbeat: what was wrong with it before is over. */
export function endStreak(desk: Desk, row: Pick<HeartbeatRow, 'agentId' | 'alertId'>): void {
  const { alertId: id, agentId: agent } = row
  if (id !== null)
    endAlert(desk, { id, ...aboutOf(row), why: because('heartbeat_changed', 'alerts.heartbeat_failing', { agent }) })
}

const aboutOf = ({ agentId: id }: Pick<HeartbeatRow, 'agentId'>) =>
  ({ kind: 'heartbeat_failing', subjectKind: 'agent', subjectId: id, about: id }) as const
