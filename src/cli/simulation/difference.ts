import type { SimulateAnswer } from '../../features/simulation/schema.ts'
import type {
  SimulatedRunView,
  SimulationChange,
  SimulationDiff,
  SimulationTotals,
} from '../../features/simulation/result-schema.ts'
import { lengthText } from '../output/times.ts'
import { renderTable, type Column } from '../output/table.ts'
import type { Screen } from '../remote/talk.ts'
import { attemptText, beganAt, clockOf, countsText, latenessText, moneyText } from './words.ts'

interface Shown {
  readonly screen: Screen
  /** How many occurrences. */
  readonly most: number
}

/** What other policies change: the occurrences that go otherwise, and the totals beside each other. */
export function differenceText(answer: SimulateAnswer, diff: SimulationDiff, { screen, most }: Shown): string {
  const { style } = screen
  const shown = diff.changes.slice(0, most)
  const head =
    diff.changed === 0
      ? 'The other policies change nothing.'
      : `The other policies change ${diff.changed} of ${diff.changed + diff.unchanged} occurrences:`
  const table = shown.length === 0 ? '' : renderTable(changeColumns(answer), shown, screen)
  const rest = diff.changed - shown.length
  const more = rest > 0 ? `${rest} more; --rows ${diff.changed} shows them, --json has them all.\n` : ''
  const cut = diff.truncated
    ? 'Not every occurrence could be compared: only the first of them are told one by one.\n'
    : ''
  return `${style.bold(head)}\n${table}${more}${cut}\n${totalsBeside(diff, screen)}`
}

function changeColumns(answer: SimulateAnswer): readonly Column<SimulationChange>[] {
  const clock = clockOf(answer)
  const names = new Map(answer.schedules.map(({ id, name }) => [id, name]))
  const told = (row: SimulatedRunView | null): string => {
    if (row === null) return 'none'
    if (row.attempts.length === 0) return `${row.status} (${row.reason})`
    return `${row.status}, attempt ${attemptText(row)}, ${clock(beganAt(row))} to ${clock(row.finished_at)}`
  }
  return [
    { title: 'TIME', of: ({ nominal_time: at }) => clock(at) },
    ...(names.size > 1
      ? [
          {
            title: 'SCHEDULE',
            of: (one: SimulationChange) => names.get(one.schedule_id) ?? '',
            flexible: true as const,
          },
        ]
      : []),
    { title: 'BEFORE', of: ({ before }) => told(before), flexible: true },
    { title: 'AFTER', of: ({ after }) => told(after), flexible: true },
  ]
}

interface Beside {
  readonly name: string
  readonly of: (totals: SimulationTotals) => string
}

const BESIDE: readonly Beside[] = [
  { name: 'runs', of: ({ runs }) => String(runs) },
  { name: 'endings', of: ({ by_status: counts }) => countsText(counts, ['skipped']) || '-' },
  { name: 'skipped', of: ({ skipped_by_reason: counts }) => countsText(counts) || '0' },
  { name: 'attempts', of: ({ attempts }) => String(attempts) },
  { name: 'at work for', of: ({ busy_ms: ms }) => lengthText(ms) },
  { name: 'most waiting', of: ({ max_waiting: most }) => String(most) },
  { name: 'lateness p99', of: ({ lateness_p99_ms: ms }) => latenessText(ms) },
  { name: 'tokens', of: ({ tokens }) => String(tokens) },
  { name: 'cost', of: ({ cost }) => moneyText(cost) },
]

function totalsBeside({ before, after }: SimulationDiff, screen: Screen): string {
  const rows = BESIDE.filter(({ name, of }) => !['tokens', 'cost'].includes(name) || of(before) + of(after) !== '00')
  return renderTable(
    [
      { title: 'TOTAL', of: ({ name }: Beside) => name },
      { title: 'BEFORE', of: (one) => one.of(before), flexible: true },
      { title: 'AFTER', of: (one) => one.of(after), flexible: true },
    ],
    rows,
    screen,
  )
}
