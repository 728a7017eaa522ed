import type { SimulateAnswer } from './schema.ts'
import type { OutageInput, SimulatedRunView } from './result-schema.ts'
import { largest } from '../../domain/long-lists.ts'
import type { Style } from '../../cli/output/style.ts'
import { cutTo, widthOfText } from '../../cli/output/text.ts'

const MARKS: Readonly<Record<string, string>> = {
  success: '=',
  failed: 'x',
  timeout: 't',
  cancelled: '~',
  running: '>',
  waiting: '-',
  skipped: '.',
}
const LEGEND = '| starts  = success  x failed  t timeout  ~ cancelled  > still at work  - waits  . skipped  # out'
const NARROWEST = 30
const WIDEST = 120
const NAME_WIDTH = 20
const MOST_LINES = 20
const MOST_BESIDE = 4

interface Sheet {
  readonly from: number
  readonly span: number
  readonly cells: number
}

/** A picture of the window for a terminal: a line for each schedule, more where its runs are beside each other. */
export function gantt(
  answer: SimulateAnswer,
  { style, width }: { readonly style: Style; readonly width: number | null },
): string {
  const shown = answer.schedules.slice(0, MOST_LINES)
  const label = Math.min(NAME_WIDTH, largest([6, ...shown.map(({ name }) => widthOfText(name))]))
  const cells = Math.min(WIDEST, Math.max(NARROWEST, (width ?? 100) - label - 3))
  const from = Date.parse(answer.from)
  const sheet = { from, span: Date.parse(answer.to) - from, cells }
  const pad = (text: string): string =>
    cutTo(text, label) + ' '.repeat(Math.max(0, label - widthOfText(cutTo(text, label))))
  const lines = [
    ...(answer.outages.length === 0 ? [] : [`${pad('outage')} ${outageLine(answer.outages, sheet)}`]),
    ...shown.flatMap(({ id, name }) =>
      runLines(
        answer.rows.filter((row) => row.schedule_id === id),
        sheet,
      ).map((line, index) => `${pad(index === 0 ? name : '')} ${line}`),
    ),
  ]
  const more = answer.schedules.length - shown.length
  return [
    `${pad('')} ${axis(sheet)}`.trimEnd(),
    ...lines,
    ...(more > 0 ? [`${more} more schedules`] : []),
    style.dim(LEGEND),
    '',
  ].join('\n')
}

const cellOf = (at: number, { from, span, cells }: Sheet): number => Math.floor(((at - from) / span) * cells)

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

/** Round moments, as many as can be read. */
function axis({ from, span, cells }: Sheet): string {
  const label = (at: number): string => {
    const text = new Date(at).toISOString()
    if (span > DAY) return `${text.slice(5, 10)} ${text.slice(11, 16)}`
    return span >= 2 * HOUR ? text.slice(11, 16) : text.slice(11, 19)
  }
  const wide = label(from).length + 2
  const step = STEPS.find((one) => (one / span) * cells >= wide) ?? span
  let line = ''
  for (let at = Math.ceil(from / step) * step; at < from + span; at += step) {
    const place = cellOf(at, { from, span, cells })
    if (place + label(at).length <= cells) line = line.padEnd(place) + label(at)
  }
  return line
}

function outageLine(outages: readonly OutageInput[], sheet: Sheet): string {
  const cells = Array.from({ length: sheet.cells }, () => ' ')
  for (const { from, to } of outages) fill(cells, sheet, { start: Date.parse(from), end: Date.parse(to), mark: '#' })
  return cells.join('').trimEnd()
}

interface Bar {
  readonly start: number
  readonly end: number
  readonly mark: string
  /** Where the bar begins, if that is to be seen. */
  readonly first?: string
}

/** What began before the window, or ends after it, is seen as far as it is in it. */
function fill(cells: string[], sheet: Sheet, { start, end, mark, first }: Bar): void {
  const begin = cellOf(start, sheet)
  const last = Math.max(begin, cellOf(end - 1, sheet))
  for (let at = Math.max(0, begin); at <= Math.min(sheet.cells - 1, last); at += 1) cells[at] = mark
  if (first !== undefined && last > begin && begin >= 0 && begin < sheet.cells) cells[begin] = first
}

/** As many lines as there are runs at once, as far as they fit; skips stand in the first, where nothing else is. */
function runLines(rows: readonly SimulatedRunView[], sheet: Sheet): readonly string[] {
  const lines: { readonly cells: string[]; busyUntil: number }[] = []
  const line = (start: number, end: number): string[] => {
    const free = lines.findIndex(({ busyUntil }) => busyUntil <= start)
    const at = free >= 0 ? free : Math.min(lines.length, MOST_BESIDE - 1)
    const found = (lines[at] ??= { cells: Array.from({ length: sheet.cells }, () => ' '), busyUntil: 0 })
    found.busyUntil = Math.max(found.busyUntil, end)
    return found.cells
  }
  const windowEnd = sheet.from + sheet.span
  for (const row of rows.filter(({ attempts }) => attempts.length > 0)) {
    const bars = barsOf(row, windowEnd)
    const cells = line(bars[0]?.start ?? 0, bars.at(-1)?.end ?? 0)
    for (const bar of bars) fill(cells, sheet, bar)
  }
  const first = line(windowEnd, windowEnd)
  for (const row of rows.filter(({ attempts }) => attempts.length === 0)) {
    const at = cellOf(Date.parse(row.nominal_time ?? row.created_at), sheet)
    const mark = MARKS[row.status] ?? MARKS['waiting'] ?? '-'
    if (first[at] === ' ') first[at] = mark
  }
  return lines.map(({ cells }) => cells.join('').trimEnd())
}

/** What it waited for, then its attempts. */
function barsOf(row: SimulatedRunView, windowEnd: number): readonly Bar[] {
  const bars: Bar[] = []
  let until = Date.parse(row.created_at)
  for (const attempt of row.attempts) {
    const start = Date.parse(attempt.started_at)
    const end = attempt.finished_at === null ? windowEnd : Date.parse(attempt.finished_at)
    if (start > until) bars.push({ start: until, end: start, mark: MARKS['waiting'] ?? '-' })
    bars.push({ start, end, mark: MARKS[attempt.status] ?? '>', first: '|' })
    until = end
  }
  return bars
}
