import type { SimulateAnswer } from '../../features/simulation/schema.ts'
import type { SimulatedRangeView, SimulatedRunView } from '../../features/simulation/result-schema.ts'
import { paintState } from '../output/style.ts'
import { renderTable, type Column } from '../output/table.ts'
import type { Screen } from '../remote/talk.ts'
import { attemptText, beganAt, clockOf, latenessText } from './words.ts'

/** A line of the table: an occurrence, or many that were skipped together. */
interface Line {
  readonly at: string
  readonly schedule: string
  readonly status: string
  readonly why: string
  readonly attempt: string
  readonly start: string
  readonly end: string
  readonly late: string
}

/** What became of each occurrence, in the order of their moments. */
export function rowsTable(answer: SimulateAnswer, screen: Screen, most: number): string {
  const lines = linesOf(answer)
  const shown = lines.slice(0, most)
  const rest = lines.length - shown.length
  const table = renderTable(columnsOf(answer, screen), shown, screen)
  const told = answer.rows.length + answer.ranges.reduce((sum, { count }) => sum + count, 0)
  const untold = answer.truncated ? answer.totals.occurrences - told : 0
  return [
    table,
    rest > 0 ? `${rest} more; --rows ${lines.length} shows them, --csv and --json have them all.\n` : '',
    untold > 0 ? `${untold} more were counted and are not told one by one.\n` : '',
  ].join('')
}

function columnsOf({ schedules }: SimulateAnswer, { style }: Screen): readonly Column<Line>[] {
  return [
    { title: 'TIME', of: ({ at }) => at },
    ...(schedules.length > 1
      ? [{ title: 'SCHEDULE', of: ({ schedule }: Line) => schedule, flexible: true as const }]
      : []),
    { title: 'DECISION', of: ({ status }) => status, paint: (text) => paintState(style, text) },
    { title: 'ATTEMPT', of: ({ attempt }) => attempt, right: true },
    { title: 'START', of: ({ start }) => start },
    { title: 'END', of: ({ end }) => end },
    { title: 'LATE', of: ({ late }) => late, right: true },
    { title: 'WHY', of: ({ why }) => why, flexible: true },
  ]
}

function linesOf(answer: SimulateAnswer): readonly Line[] {
  const clock = clockOf(answer)
  const names = new Map(answer.schedules.map(({ id, name }) => [id, name]))
  const placed = [
    ...answer.rows.map((row) => ({ at: row.nominal_time ?? row.created_at, line: lineOfRun(row, clock, names) })),
    ...answer.ranges.map((range) => ({ at: range.first, line: lineOfRange(range, clock, names) })),
  ]
  return placed.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).map(({ line }) => line)
}

type Clock = ReturnType<typeof clockOf>
type Names = ReadonlyMap<string, string>

function lineOfRun(row: SimulatedRunView, clock: Clock, names: Names): Line {
  return {
    at: clock(row.nominal_time ?? row.created_at),
    schedule: names.get(row.schedule_id) ?? row.schedule_id,
    status: row.status,
    why: whyOf(row, clock),
    attempt: attemptText(row),
    start: clock(beganAt(row)),
    end: clock(row.attempts.length === 0 ? null : row.finished_at),
    late: latenessText(row.lateness_ms),
  }
}

/** The reason as a word, and the sentence; of one that went as planned neither says anything new. */
function whyOf(row: SimulatedRunView, clock: Clock): string {
  const { reason, sentence, trigger, status, decision, not_before: notBefore } = row
  if (status === 'running') return 'still at work when the window ends'
  if (status !== 'success') return `${reason}: ${sentence}`
  if (trigger !== 'schedule') return `${decision.reason}: ${decision.sentence}`
  return notBefore === null ? '-' : `not before ${clock(notBefore)}`
}

const lineOfRange = (range: SimulatedRangeView, clock: Clock, names: Names): Line => ({
  at: clock(range.first),
  schedule: names.get(range.schedule_id) ?? range.schedule_id,
  status: 'skipped',
  why: `${range.reason}: ${range.count} up to ${clock(range.last)}. ${range.sentence}`,
  ...{ attempt: '-', start: '-', end: '-', late: '-' },
})
