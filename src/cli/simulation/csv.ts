import type { SimulateAnswer } from '../../features/simulation/schema.ts'
import type { SimulatedRunView } from '../../features/simulation/result-schema.ts'
import { beganAt } from './words.ts'

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
  ['started_at', beganAt],
  ['finished_at', (row) => row.finished_at],
  ['lateness_ms', (row) => row.lateness_ms],
  ['tokens', (row) => row.tokens],
  ['cost', (row) => row.cost],
  ['superseded_by', (row) => row.superseded_by],
  ['sentence', (row) => row.sentence],
]

/** The rows as RFC 4180 has them, under their names. */
export function csvOf({ rows, schedules }: SimulateAnswer): string {
  const names = new Map(schedules.map(({ id, name }) => [id, name]))
  const lines = rows.map((row) => COLUMNS.map(([, of]) => quoted(of(row, names.get(row.schedule_id) ?? ''))))
  return [COLUMNS.map(([title]) => title), ...lines].map((cells) => `${cells.join(',')}\r\n`).join('')
}

/** A name of somebody else must not become a formula in whatever opens the file. */
function quoted(cell: Cell): string {
  if (cell === null) return ''
  const text = typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
