import type { importOperations } from '../../operations/import.ts'
import { importCrontab } from '../../service/import/crontab.ts'
import { importClawJobs } from '../../service/import/openclaw.ts'
import { parseWords } from '../../service/schedule-words.ts'
import type { HandlersOf } from '../call.ts'

/** Schedules from elsewhere. What was made wakes the loop that watches over schedules. */
export const importHandlers: HandlersOf<typeof importOperations> = {
  'schedules.parse': ({ ports, caller, body }) => parseWords(ports, caller, body),
  'import.crontab': async ({ ctx, ports, caller, body }) => {
    const report = await importCrontab(ports, caller, body)
    if (!report.plan) ctx.wakeSchedules()
    return report
  },
  'import.openclaw': async ({ ctx, ports, caller, body }) => {
    const report = await importClawJobs(ports, caller, body)
    if (!report.plan) ctx.wakeSchedules()
    return report
  },
}
