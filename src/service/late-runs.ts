import type { OrgId, RunId } from '../core/ids.ts'
import { judgeLateness } from './desk/alerts.ts'
import type { Work } from './turn-port.ts'

/** Raises the alert about runs that still wait, unless they have started or somebody else was faster. */
export const lateWork = (orgId: OrgId, ids: readonly RunId[]): Work<void> => ({
  orgId,
  apply: (desk) => {
    for (const id of ids) {
      const run = desk.runs.get(id)
      const row = run?.scheduleId === null || run === undefined ? undefined : desk.schedules.get(run.scheduleId)
      if (run !== undefined && row !== undefined && run.startedAt === null)
        judgeLateness(desk, row, { run, hasStarted: false })
    }
  },
})
