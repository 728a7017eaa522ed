import { backfillInput } from '../contract/backfill.ts'
import { scheduleForecastInput } from '../contract/forecast.ts'
import { schemaReader } from '../contract/read-input.ts'
import { scheduleInput, schedulePatch } from '../contract/schedule.ts'
import { simulateInput } from '../contract/simulate.ts'
import type { Escapement } from '../escapement.ts'
import { forecastDraft } from '../service/forecast/draft.ts'
import { approveSchedule, rejectSchedule } from '../service/rails/approve.ts'
import { startBackfill } from '../service/backfill/backfills.ts'
import { importCrontab } from '../service/import/crontab.ts'
import { importClawJobs } from '../service/import/openclaw.ts'
import { runScheduleNow } from '../service/run-actions.ts'
import { findRunsOfSchedule } from '../service/runs-read.ts'
import { explainOccurrence } from '../service/explain/occurrence.ts'
import {
  changeSchedule,
  createScheduleFrom,
  deleteSchedule,
  disableSchedule,
  enableSchedule,
  getSchedule,
} from '../service/schedules.ts'
import { findSchedules } from '../service/schedules-find.ts'
import { simulateSchedules } from '../service/simulate/simulate.ts'
import { askerOf } from './explain.ts'
import { requireObject } from './given.ts'
import { parseWords } from '../service/schedule-words.ts'
import type { Running } from './running.ts'

const readNew = schemaReader(scheduleInput)
const readChange = schemaReader(schedulePatch)
const readSimulation = schemaReader(simulateInput)
const readForecast = schemaReader(scheduleForecastInput)
const readBackfill = schemaReader(backfillInput)

const FIELDS = 'an object with the fields of a schedule, as { cron, agent_id, payload }'

/** Schedules: the whole life of a plan. What changes a plan wakes the loop that watches over it. */
export function schedulesOf(running: () => Running): Escapement['schedules'] {
  const changing = async <T>(change: (now: Running) => Promise<T>): Promise<T> => {
    const now = running()
    const changed = await change(now)
    now.app.loops.wakeSchedules()
    return changed
  }
  return {
    create: (input, options = {}) =>
      changing(({ app, caller, refuseWhileDraining }) => {
        requireObject('schedule', input, FIELDS)
        refuseWhileDraining()
        return createScheduleFrom(app.ports, caller, { input: readNew(input), fromRun: options.fromRun })
      }),
    get: async (id) => getSchedule(running().app.ports, running().caller, id),
    list: async (filter) => findSchedules(running().app.ports, running().caller, filter),
    update: (id, change) =>
      changing(({ app, caller }) => {
        requireObject('change', change, FIELDS)
        return changeSchedule(app.ports, caller, { id, change: readChange(change) })
      }),
    delete: (id) => changing(({ app, caller }) => deleteSchedule(app.ports, caller, { id })),
    enable: (id) => changing(({ app, caller }) => enableSchedule(app.ports, caller, { id })),
    disable: (id) => changing(({ app, caller }) => disableSchedule(app.ports, caller, { id })),
    approve: (id) => changing(({ app, caller }) => approveSchedule(app.ports, caller, { id })),
    reject: (id, reject) => changing(({ app, caller }) => rejectSchedule(app.ports, caller, { id, reject })),
    runNow: async (id, options = {}) => {
      const { app, admitting, refuseWhileDraining } = running()
      refuseWhileDraining()
      return runScheduleNow(app.ports, admitting(), { id, mode: options.mode ?? 'force' })
    },
    backfill: (id, input) =>
      changing(({ app, caller, refuseWhileDraining }) => {
        refuseWhileDraining()
        return startBackfill(app.ports, caller, { id, input: readBackfill(input) })
      }),
    runs: async (id, filter) => findRunsOfSchedule(running().app.ports, { orgId: running().orgId, id }, filter),
    simulate: async (input, options = {}) =>
      simulateSchedules(running().app.ports, running().caller, { input: readSimulation(input), ...options }),
    forecast: async (input) =>
      forecastDraft(running().app.ports, running().caller, { input: readForecast(input), seesBudgets: true }),
    explain: async (id, at) => explainOccurrence(running().app.ports, askerOf(running()), { id, at }),
    parse: async (input) => parseWords(running().app.ports, running().caller, input),
    importCrontab: (input) => changing(({ app, caller }) => importCrontab(app.ports, caller, input)),
    importOpenclaw: (input) => changing(({ app, caller }) => importClawJobs(app.ports, caller, input)),
  }
}
