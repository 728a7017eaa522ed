import { paintState } from '../../cli/output/style.ts'
import { type Column, renderTable } from '../../cli/output/table.ts'
import { oneLine } from '../../cli/output/text.ts'
import { durationText } from '../../cli/output/times.ts'
import type { Screen } from '../../cli/remote/call.ts'
import type {
  SimulatedRangeView,
  SimulatedRunView,
  SimulationChange,
  SimulationDiff,
  SimulationTotals,
} from './result-schema.ts'
import type { SimulateAnswer } from './schema.ts'

const DAY_MS = 86_400_000

/** The time format of a window; with the date only if it is longer than a day. */
function timeFormatterOf({ from, to }: Pick<SimulateAnswer, 'from' | 'to'>): (at: string | null) => string {
  const isLong = Date.parse(to) - Date.parse(from) > DAY_MS
  const showsSeconds = !/:00\.000Z$/.test(from) || Date.parse(to) - Date.parse(from) < DAY_MS
  return (at) => {
    if (at === null) return '-'
    const millis = at.slice(19, 23) === '.000' ? '' : at.slice(19, 23)
    const time = showsSeconds || millis !== '' ? `${at.slice(11, 19)}${millis}` : at.slice(11, 19)
    return isLong ? `${at.slice(0, 10)} ${time}` : time
  }
}

/** The start of the first attempt of a run. */
const firstStartOf = ({ attempts, started_at: started }: SimulatedRunView): string | null =>
  attempts[0]?.started_at ?? started

/** `1`, or `1-4` for a run with retries. */
const attemptText = ({ first_attempt: first, attempt, attempts }: SimulatedRunView): string =>
  attempts.length === 0 ? '-' : first === attempt ? String(attempt) : `${first}-${attempt}`

/** The lateness; `-`: unknown. */
const latenessText = (ms: number | null): string => (ms === null ? '-' : ms === 0 ? '0' : durationText(ms))

/** `11 cancelled, 1 running`, largest count first. */
function countsText(counts: Readonly<Partial<Record<string, number>>>, without: readonly string[] = []): string {
  return Object.entries(counts)
    .filter(([word, count]) => !without.includes(word) && (count ?? 0) > 0)
    .sort(([, a], [, b]) => (b ?? 0) - (a ?? 0))
    .map(([word, count]) => `${count ?? 0} ${word}`)
    .join(', ')
}

/** A cost with at most four decimal places. */
const moneyText = (cost: number): string => String(Math.round(cost * 10_000) / 10_000)

/** The totals of a window. */
export function totalFacts(totals: SimulationTotals): readonly (readonly [name: string, value: string | null])[] {
  const skips = countsText(totals.skipped_by_reason)
  const skipped = totals.by_status.skipped ?? 0
  const { lateness_p50_ms: p50, lateness_p99_ms: p99, lateness_max_ms: max } = totals
  return [
    ['occurrences', String(totals.occurrences)],
    ['runs', `${totals.runs}${withColon(countsText(totals.by_status, ['skipped']))}`],
    ['skipped', skipped === 0 ? '0' : `${skipped}${withColon(skips)}`],
    ['superseded', totals.superseded === 0 ? null : String(totals.superseded)],
    [
      'attempts',
      `${totals.attempts}, ${durationText(totals.busy_ms)} of run time, at most ${totals.max_running} at a time`,
    ],
    ['waiting', `at most ${totals.max_waiting} at a time`],
    [
      'lateness',
      p50 === null ? null : `p50 ${latenessText(p50)}, p99 ${latenessText(p99)}, at most ${latenessText(max)}`,
    ],
    ['tokens', totals.tokens === 0 ? null : String(totals.tokens)],
    ['cost', totals.cost === 0 ? null : moneyText(totals.cost)],
  ]
}

const withColon = (text: string): string => (text === '' ? '' : `: ${text}`)

const MAX_NAMED = 5

/** The simulated schedules, the window, and the data the simulation is based on. */
export function headText(answer: SimulateAnswer, { style }: Screen): string {
  const { schedules, from, to, outages, basis } = answer
  const clock = timeFormatterOf(answer)
  const named = schedules.slice(0, MAX_NAMED).map(({ name, sentence }) => `${style.bold(oneLine(name))}: ${sentence}`)
  const more = schedules.length > MAX_NAMED ? [`and ${schedules.length - MAX_NAMED} more schedules`] : []
  const length = durationText(Date.parse(to) - Date.parse(from))
  const outageLines = outages.map(
    (one) =>
      `${OUTAGE_LABELS[one.kind]}${one.agent_id === undefined ? '' : ` ${one.agent_id}`} ${clock(one.from)} to ${clock(one.to)}`,
  )
  const observed = basis.filter(({ observed_runs: runs }) => runs > 0).length
  const recorded = basis.reduce((sum, one) => sum + one.recorded_attempts, 0)
  const notes = schedules.flatMap(({ dst_notes: all }) => all.filter(({ effect }) => effect !== 'none'))
  return [
    ...named,
    ...more,
    `${from.replace('T', ' ').replace(/(?:\.000)?Z$/, '')} UTC, for ${length}`,
    ...outageLines,
    ...(observed === 0 ? [] : [`durations from the run history of ${observed} of ${schedules.length} schedules`]),
    ...(recorded === 0 ? [] : [`${recorded} attempts replayed from the run history`]),
    ...[...new Set(notes.map(({ sentence }) => sentence))],
    '',
  ].join('\n')
}

const OUTAGE_LABELS = {
  engine: 'all nodes down',
  stall: 'scheduler stalled',
  agent: 'agents unavailable',
} as const

type Cell = string | number | null

const COLUMNS: readonly (readonly [title: string, of: (row: SimulatedRunView, name: string) => Cell])[] = [
  ['schedule_id', (row) => row.schedule_id],
  ['schedule', (_row, name) => name],
  ['nominal_time', (row) => row.nominal_time],
  ['trigger', (row) => row.trigger],
  ['status', (row) => row.status],
  ['reason', (row) => row.reason],
  ['rule', (row) => row.rule],
  ['first_attempt', (row) => row.first_attempt],
  ['attempt', (row) => row.attempt],
  ['started_at', firstStartOf],
  ['finished_at', (row) => row.finished_at],
  ['lateness_ms', (row) => row.lateness_ms],
  ['tokens', (row) => row.tokens],
  ['cost', (row) => row.cost],
  ['superseded_by', (row) => row.superseded_by],
  ['sentence', (row) => row.sentence],
]

/** The rows as RFC 4180 CSV with a header. */
export function csvOf({ rows, schedules }: SimulateAnswer): string {
  const names = new Map(schedules.map(({ id, name }) => [id, name]))
  const lines = rows.map((row) => COLUMNS.map(([, of]) => csvCell(of(row, names.get(row.schedule_id) ?? ''))))
  return [COLUMNS.map(([title]) => title), ...lines].map((cells) => `${cells.join(',')}\r\n`).join('')
}

/** Quotes a cell, and prefixes text that a spreadsheet would read as a formula. */
function csvCell(cell: Cell): string {
  if (cell === null) return ''
  const text = typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A line of the table: one occurrence, or a range of skipped ones. */
interface OccurrenceLine {
  readonly at: string
  readonly schedule: string
  readonly status: string
  readonly why: string
  readonly attempt: string
  readonly start: string
  readonly end: string
  readonly late: string
}

/** The table of occurrences in order of time. */
export function rowsTable(answer: SimulateAnswer, screen: Screen, max: number): string {
  const lines = linesOf(answer)
  const shown = lines.slice(0, max)
  const rest = lines.length - shown.length
  const table = renderTable(columnsOf(answer, screen), shown, screen)
  const shownCount = answer.rows.length + answer.ranges.reduce((sum, { count }) => sum + count, 0)
  const hiddenCount = answer.truncated ? answer.totals.occurrences - shownCount : 0
  return [
    table,
    rest > 0 ? `${rest} more. Show them with --rows ${lines.length}; --csv and --json contain all.\n` : '',
    hiddenCount > 0 ? `${hiddenCount} more occurrences are included in the totals only.\n` : '',
  ].join('')
}

function columnsOf({ schedules }: SimulateAnswer, { style }: Screen): readonly Column<OccurrenceLine>[] {
  return [
    { title: 'TIME', value: ({ at }) => at },
    ...(schedules.length > 1
      ? [{ title: 'SCHEDULE', value: ({ schedule }: OccurrenceLine) => schedule, flexible: true as const }]
      : []),
    { title: 'DECISION', value: ({ status }) => status, paint: (text) => paintState(style, text) },
    { title: 'ATTEMPT', value: ({ attempt }) => attempt, right: true },
    { title: 'START', value: ({ start }) => start },
    { title: 'END', value: ({ end }) => end },
    { title: 'LATE', value: ({ late }) => late, right: true },
    { title: 'WHY', value: ({ why }) => why, flexible: true },
  ]
}

function linesOf(answer: SimulateAnswer): readonly OccurrenceLine[] {
  const clock = timeFormatterOf(answer)
  const names = new Map(answer.schedules.map(({ id, name }) => [id, name]))
  const placed = [
    ...answer.rows.map((row) => ({ at: row.nominal_time ?? row.created_at, line: lineOfRun(row, clock, names) })),
    ...answer.ranges.map((range) => ({ at: range.first, line: lineOfRange(range, clock, names) })),
  ]
  return placed.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).map(({ line }) => line)
}

type TimeFormatter = ReturnType<typeof timeFormatterOf>
type ScheduleNames = ReadonlyMap<string, string>

function lineOfRun(row: SimulatedRunView, clock: TimeFormatter, names: ScheduleNames): OccurrenceLine {
  return {
    at: clock(row.nominal_time ?? row.created_at),
    schedule: names.get(row.schedule_id) ?? row.schedule_id,
    status: row.status,
    why: whyOf(row, clock),
    attempt: attemptText(row),
    start: clock(firstStartOf(row)),
    end: clock(row.attempts.length === 0 ? null : row.finished_at),
    late: latenessText(row.lateness_ms),
  }
}

/** The reason and its sentence; `-` for a run that succeeded as scheduled. */
function whyOf(row: SimulatedRunView, clock: TimeFormatter): string {
  const { reason, sentence, trigger, status, decision, not_before: notBefore } = row
  if (status === 'running') return 'still running at the end of the window'
  if (status !== 'success') return `${reason}: ${sentence}`
  if (trigger !== 'schedule') return `${decision.reason}: ${decision.sentence}`
  return notBefore === null ? '-' : `not before ${clock(notBefore)}`
}

const lineOfRange = (range: SimulatedRangeView, clock: TimeFormatter, names: ScheduleNames): OccurrenceLine => ({
  at: clock(range.first),
  schedule: names.get(range.schedule_id) ?? range.schedule_id,
  status: 'skipped',
  why: `${range.reason}: ${range.count} up to ${clock(range.last)}. ${range.sentence}`,
  ...{ attempt: '-', start: '-', end: '-', late: '-' },
})

interface DiffDisplay {
  readonly screen: Screen
  /** The maximum number of occurrences to show. */
  readonly maxRows: number
}

/** The effect of other policies: the occurrences that change, and the totals side by side. */
export function differenceText(
  answer: SimulateAnswer,
  diff: SimulationDiff,
  { screen, maxRows: max }: DiffDisplay,
): string {
  const { style } = screen
  const shown = diff.changes.slice(0, max)
  const head =
    diff.changed === 0
      ? 'With the other policies, nothing changes.'
      : `With the other policies, ${diff.changed} of ${diff.changed + diff.unchanged} occurrences change:`
  const table = shown.length === 0 ? '' : renderTable(changeColumns(answer), shown, screen)
  const rest = diff.changed - shown.length
  const more = rest > 0 ? `${rest} more. Show them with --rows ${diff.changed}; --json contains all.\n` : ''
  const cut = diff.truncated ? 'Only the first occurrences were compared one by one.\n' : ''
  return `${style.bold(head)}\n${table}${more}${cut}\n${totalsTable(diff, screen)}`
}

function changeColumns(answer: SimulateAnswer): readonly Column<SimulationChange>[] {
  const clock = timeFormatterOf(answer)
  const names = new Map(answer.schedules.map(({ id, name }) => [id, name]))
  const shownCount = (row: SimulatedRunView | null): string => {
    if (row === null) return 'none'
    if (row.attempts.length === 0) return `${row.status} (${row.reason})`
    return `${row.status}, attempt ${attemptText(row)}, ${clock(firstStartOf(row))} to ${clock(row.finished_at)}`
  }
  return [
    { title: 'TIME', value: ({ nominal_time: at }) => clock(at) },
    ...(names.size > 1
      ? [
          {
            title: 'SCHEDULE',
            value: (one: SimulationChange) => names.get(one.schedule_id) ?? '',
            flexible: true as const,
          },
        ]
      : []),
    { title: 'BEFORE', value: ({ before }) => shownCount(before), flexible: true },
    { title: 'AFTER', value: ({ after }) => shownCount(after), flexible: true },
  ]
}

interface TotalRow {
  readonly name: string
  readonly of: (totals: SimulationTotals) => string
}

const TOTAL_ROWS: readonly TotalRow[] = [
  { name: 'runs', of: ({ runs }) => String(runs) },
  { name: 'outcomes', of: ({ by_status: counts }) => countsText(counts, ['skipped']) || '-' },
  { name: 'skipped', of: ({ skipped_by_reason: counts }) => countsText(counts) || '0' },
  { name: 'attempts', of: ({ attempts }) => String(attempts) },
  { name: 'run time', of: ({ busy_ms: ms }) => durationText(ms) },
  { name: 'max waiting', of: ({ max_waiting: max }) => String(max) },
  { name: 'lateness p99', of: ({ lateness_p99_ms: ms }) => latenessText(ms) },
  { name: 'tokens', of: ({ tokens }) => String(tokens) },
  { name: 'cost', of: ({ cost }) => moneyText(cost) },
]

function totalsTable({ before, after }: SimulationDiff, screen: Screen): string {
  const rows = TOTAL_ROWS.filter(
    ({ name, of }) => !['tokens', 'cost'].includes(name) || of(before) + of(after) !== '00',
  )
  return renderTable(
    [
      { title: 'TOTAL', value: ({ name }: TotalRow) => name },
      { title: 'BEFORE', value: (one) => one.of(before), flexible: true },
      { title: 'AFTER', value: (one) => one.of(after), flexible: true },
    ],
    rows,
    screen,
  )
}
