import type { RunRow } from '../../features/runs/store.ts'
import { heartbeatSubject } from '../../domain/probe/verdict.ts'
import type { OrgState } from '../org-state/org-state.ts'

/** The probe to run before a run's executor, as given, and its subject. */
export interface RunProbe {
  readonly given: unknown
  readonly subject: string
}

/**
 * The probe to run before the executor; null for nearly every run. A run requested by hand has none: only planned runs,
 * and run-now with mode `due`, are probed.
 */
export function probeOf(state: OrgState, run: RunRow): RunProbe | null {
  switch (run.trigger) {
    case 'schedule':
    case 'catchup':
      return scheduleProbe(state, run)
    case 'manual':
      return run.decision.evidence['mode'] === 'due' ? scheduleProbe(state, run) : null
    case 'heartbeat': {
      const { delivery } = run
      if (delivery === null || !('heartbeat' in delivery)) return null
      const given = delivery.heartbeat.probe ?? null
      return given === null ? null : { given, subject: heartbeatSubject(run.agentId) }
    }
    case 'message':
    case 'task':
    case 'webhook':
    case 'retry':
      return null
  }
}

function scheduleProbe(state: OrgState, { scheduleId }: RunRow): RunProbe | null {
  const row = scheduleId === null ? undefined : state.schedules.get(scheduleId)
  const given = row?.input['probe']
  return row === undefined || given === undefined ? null : { given, subject: row.id }
}
