import type { SimulateAnswer } from './schema.ts'
import type { OutageInput, SimulatedRunView } from './result-schema.ts'
import { largest } from '../../domain/long-lists.ts'
import type { Style } from '../../cli/output/style.ts'
import { truncateText, widthOfText } from '../../cli/output/text.ts'

const STATUS_CHARACTERS: Readonly<Record<string, string>> = {
  success: '=',
  failed: 'x',
  timeout: 't',
  cancelled: '~',
  running: '>',
  waiting: '-',
  skipped: '.',
}
const LEGEND = '| start  = success  x failed  t timeout  ~ cancelled  > running  - waiting  . skipped  # outage'
const MIN_CHART_WIDTH = 30
const MAX_CHART_WIDTH = 120
const NAME_WIDTH = 20
const MAX_LINES = 20
const MAX_CONCURRENT_SENDS = 4

interface TimeScale {
  readonly from: number
  readonly span: number
  readonly cells: number
}

/** Renders the window as a Gantt chart: a line per schedule, more lines where its runs overlap. */
export function gantt(
  answer: SimulateAnswer,
  { style, width }: { readonly style: Style; readonly width: number | null },
): string {
  const shown = answer.schedules.slice(0, MAX_LINES)
  const label = Math.min(NAME_WIDTH, largest([6, ...shown.map(({ name }) => widthOfText(name))]))
  const cells = Math.min(MAX_CHART_WIDTH, Math.max(MIN_CHART_WIDTH, (width ?? 100) - label - 3))
  const from = Date.parse(answer.from)
  const scale = { from, span: Date.parse(answer.to) - from, cells }
  const pad = (text: string): string =>
    truncateText(text, label) + ' '.repeat(Math.max(0, label - widthOfText(truncateText(text, label))))
  const lines = [
    ...(answer.outages.length === 0 ? [] : [`${pad('outage')} ${outageLine(answer.outages, scale)}`]),
    ...shown.flatMap(({ id, name }) =>
      runLines(
        answer.rows.filter((row) => row.schedule_id === id),
        scale,
      ).map((line, index) => `${pad(index === 0 ? name : '')} ${line}`),
    ),
  ]
  const more = answer.schedules.length - shown.length
  return [
    `${pad('')} ${axis(scale)}`.trimEnd(),
    ...lines,
    ...(more > 0 ? [`${more} more schedules`] : []),
    style.dim(LEGEND),
    '',
  ].join('\n')
}

const cellOf = (at: number, { from, span, cells }: TimeScale): number => Math.floor(((at - from) / span) * cells)

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 28].map((count) => count * DAY),
]

/** The time axis, with as many round times as fit. */
function axis({ from, span, cells }: TimeScale): string {
  const label = (at: number): string => {
    const text = new Date(at).toISOString()
    if (span > DAY) return `${text.slice(5, 10)} ${text.slice(11, 16)}`
    return span >= 2 * HOUR ? text.slice(11, 16) : text.slice(11, 19)
  }
  const labelWidth = label(from).length + 2
  const step = STEPS.find((one) => (one / span) * cells >= labelWidth) ?? span
  let line = ''
  for (let at = Math.ceil(from / step) * step; at < from + span; at += step) {
    const column = cellOf(at, { from, span, cells })
    if (column + label(at).length <= cells) line = line.padEnd(column) + label(at)
  }
  return line
}

function outageLine(outages: readonly OutageInput[], scale: TimeScale): string {
  const cells = Array.from({ length: scale.cells }, () => ' ')
  for (const { from, to } of outages)
    fill(cells, scale, { start: Date.parse(from), end: Date.parse(to), character: '#' })
  return cells.join('').trimEnd()
}

interface Bar {
  readonly start: number
  readonly end: number
  readonly character: string
  /** The character of the first cell, if it differs. */
  readonly firstCharacter?: string
}

/** Draws the part of a bar that lies in the window. */
function fill(cells: string[], scale: TimeScale, { start, end, character, firstCharacter: first }: Bar): void {
  const begin = cellOf(start, scale)
  const last = Math.max(begin, cellOf(end - 1, scale))
  for (let at = Math.max(0, begin); at <= Math.min(scale.cells - 1, last); at += 1) cells[at] = character
  if (first !== undefined && last > begin && begin >= 0 && begin < scale.cells) cells[begin] = first
}

/** One line per concurrent run, up to a limit; skipped occurrences go to free cells of the first line. */
function runLines(rows: readonly SimulatedRunView[], scale: TimeScale): readonly string[] {
  const lines: { readonly cells: string[]; busyUntil: number }[] = []
  const line = (start: number, end: number): string[] => {
    const free = lines.findIndex(({ busyUntil }) => busyUntil <= start)
    const at = free >= 0 ? free : Math.min(lines.length, MAX_CONCURRENT_SENDS - 1)
    const found = (lines[at] ??= { cells: Array.from({ length: scale.cells }, () => ' '), busyUntil: 0 })
    found.busyUntil = Math.max(found.busyUntil, end)
    return found.cells
  }
  const windowEnd = scale.from + scale.span
  for (const row of rows.filter(({ attempts }) => attempts.length > 0)) {
    const bars = barsOf(row, windowEnd)
    const cells = line(bars[0]?.start ?? 0, bars.at(-1)?.end ?? 0)
    for (const bar of bars) fill(cells, scale, bar)
  }
  const first = line(windowEnd, windowEnd)
  for (const row of rows.filter(({ attempts }) => attempts.length === 0)) {
    const at = cellOf(Date.parse(row.nominal_time ?? row.created_at), scale)
    const character = STATUS_CHARACTERS[row.status] ?? STATUS_CHARACTERS['waiting'] ?? '-'
    if (first[at] === ' ') first[at] = character
  }
  return lines.map(({ cells }) => cells.join('').trimEnd())
}

/** The bars of a run: waiting times and attempts. */
function barsOf(row: SimulatedRunView, windowEnd: number): readonly Bar[] {
  const bars: Bar[] = []
  let until = Date.parse(row.created_at)
  for (const attempt of row.attempts) {
    const start = Date.parse(attempt.started_at)
    const end = attempt.finished_at === null ? windowEnd : Date.parse(attempt.finished_at)
    if (start > until) bars.push({ start: until, end: start, character: STATUS_CHARACTERS['waiting'] ?? '-' })
    bars.push({ start, end, character: STATUS_CHARACTERS[attempt.status] ?? '>', firstCharacter: '|' })
    until = end
  }
  return bars
}
