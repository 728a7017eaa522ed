import type { RunRow } from '../../store/run-row.ts'
import { heartbeatSubject } from '../../core/probe/asked.ts'
import type { Desk } from '../../service/desk/desk.ts'

/** What is asked before a run wakes anybody: as it was given, and whose it is. */
export interface CarriedProbe {
  readonly given: unknown
  readonly subject: string
}

/**
 * What is asked before the run wakes anybody; null for nearly every run. Whoever asks for a run by hand has decided that
 * the agent is to be woken: only what the clock makes, and a run-now that asks for what is due, is asked about.
 */
export function probeOf(desk: Desk, run: RunRow): CarriedProbe | null {
  switch (run.trigger) {
    case 'schedule':
    case 'catchup':
      return ofSchedule(desk, run)
    case 'manual':
      return run.decision.evidence['mode'] === 'due' ? ofSchedule(desk, run) : null
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

function ofSchedule(desk: Desk, { scheduleId }: RunRow): CarriedProbe | null {
  const row = scheduleId === null ? undefined : desk.schedules.get(scheduleId)
  const given = row?.input['probe']
  return row === undefined || given === undefined ? null : { given, subject: row.id }
}
