import type { DeskSettings } from './desk/desk.ts'
import type { EngineSettings } from './settings.ts'

/** What decisions look at of the settings of an engine. */
export const deskSettings = (settings: EngineSettings): DeskSettings => ({
  session: settings.sessions,
  firing: settings.schedules.firing,
  stopGraceMs: settings.node.stopGraceMs,
  tasks: settings.tasks,
  retry: settings.retry,
  catchupMaxActive: settings.schedules.catchupMaxActive,
  alertAfter: settings.alerts.failuresInARow,
})
