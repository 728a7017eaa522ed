import { describe, expect, it } from 'vitest'
import { attemptId, scheduleId } from '../../src/domain/ids.ts'
import { formatInstant, instant, MINUTE_MS } from '../../src/domain/instant.ts'
import { startPace } from '../../src/domain/schedule/pace/pace.ts'
import { isDocumented } from '../../src/domain/explain/rules.ts'
import { fire } from '../../src/engine/commands/fire.ts'
import { applyReport } from '../../src/engine/commands/settle.ts'
import { pendingOfSchedule } from '../../src/engine/org-state/org-state.ts'
import { viewPace } from '../../src/features/schedules/view.ts'
import { aScheduleOn, openCabinet } from '../engine/commands/cabinet.ts'
import { timingOf } from '../support/schedules.ts'
import { textOf } from './tracked-files.ts'

const PAGE = textOf('docs/concepts/cadence.md')

/** The rows of the worked example. */
const ROWS = [...PAGE.matchAll(/^\| (\d\d:\d\d) +\| (.*?) +\| (\d+) +\| (\d\d:\d\d) +\| `(\w+)` +\|$/gm)]

/** `text`, next_check 90 */
function saidIn(words: string): { readonly output: string; readonly nextCheck?: unknown } {
  const [, output = ''] = /`([^`]*)`/.exec(words) ?? []
  const [, wish] = /next_check (\w+)/.exec(words) ?? []
  return wish === undefined ? { output } : { output, nextCheck: /^\d+$/.test(wish) ? Number(wish) : wish }
}

describe('the page about the cadence', () => {
  it('plays its worked example', () => {
    const cabinet = openCabinet()
    const { desk } = cabinet
    desk.now = instant(Date.parse('2026-11-16T12:00:00Z'))
    const anchor = formatInstant(desk.now)
    const timing = timingOf({ every_seconds: 1_200, anchor, cadence: { min_seconds: 300, max_seconds: 21_600 } })
    const id = aScheduleOn(cabinet, timing)
    const row = desk.schedules.get(scheduleId(id))
    if (row === undefined) throw new Error('it is on the desk')
    Object.assign(row, { pace: startPace(timing, desk.now), watermark: desk.now })
    const told = ROWS.map(([, moment = '', words = '']) => {
      desk.now = instant(Date.parse(`2026-11-16T${moment}:00Z`))
      fire(desk, id)
      const [run] = pendingOfSchedule(desk, id)
      if (run === undefined) throw new Error(`nothing happens at ${moment}`)
      cabinet.start(run.id)
      desk.now = instant(desk.now + MINUTE_MS)
      const attempt = run.attemptId ?? attemptId('none')
      applyReport(desk, run, { attemptId: attempt, outcome: { kind: 'succeeded' }, ...saidIn(words) })
      const pace = viewPace(row)
      const next = row.nextRunAt === null ? '' : formatInstant(row.nextRunAt).slice(11, 16)
      return [moment, words, String(pace?.interval_seconds), next, pace?.because.reason]
    })
    expect(ROWS).toHaveLength(7)
    expect(told).toEqual(ROWS.map((cells) => cells.slice(1)))
  })

  it('is where its rules are documented', () => {
    for (const rule of ['cadence', 'cadence.next_check']) expect(isDocumented(rule)).toBe(true)
    for (const head of ['## Interval changes', '## Agent proposals']) expect(PAGE).toContain(head)
  })
})
