import type { RunView } from '../../../src/features/runs/schema.ts'
import { api } from '../../api/client.ts'
import { filterOf, type RunSearch } from './run-search.ts'

/** The formats of an export. */
export type ExportFormat = 'csv' | 'json'

/** So many runs are exported at most, newest first; the CLI has no such limit. */
export const MOST_EXPORTED = 10_000
const PAGE = 200

/** Reads the runs of a filter, page by page. */
export async function readRuns(search: RunSearch): Promise<readonly RunView[]> {
  const filter = filterOf(search, Date.now())
  const found: RunView[] = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<typeof api.runs.list>> = await api.runs.list({
      ...{ ...filter, limit: PAGE },
      ...(cursor === null ? {} : { cursor }),
    })
    for (const run of page.items) found.push(run)
    cursor = page.next_cursor
  } while (cursor !== null && found.length < MOST_EXPORTED)
  return found.slice(0, MOST_EXPORTED)
}

const COLUMNS = {
  id: ({ id }) => id,
  status: ({ status }) => status,
  trigger: ({ trigger }) => trigger,
  agent_id: ({ agent_id: agent }) => agent,
  schedule_id: ({ schedule_id: schedule }) => schedule,
  session_key: ({ session_key: session }) => session,
  created_at: ({ created_at: at }) => at,
  started_at: ({ started_at: at }) => at,
  finished_at: ({ finished_at: at }) => at,
  duration_ms: ({ duration_ms: ms }) => ms,
  attempts: ({ attempt, first_attempt: first }) => attempt - first + 1,
  input_tokens: ({ usage }) => usage?.input_tokens ?? null,
  output_tokens: ({ usage }) => usage?.output_tokens ?? null,
  cost: ({ usage }) => usage?.cost ?? null,
  error_code: (run) => run.agent_error_code ?? run.error_code,
  error_message: ({ error_message: message }) => message,
} as const satisfies Readonly<Record<string, (run: RunView) => string | number | null>>

/** Runs as lines of comma-separated values, with a line of names before them. */
export function csvOf(runs: readonly RunView[]): string {
  const lines = runs.map((run) => Object.values(COLUMNS).map((value) => fieldOf(value(run))))
  return [Object.keys(COLUMNS), ...lines].map((fields) => `${fields.join(',')}\r\n`).join('')
}

/** What a spreadsheet would take for a formula begins with an apostrophe. */
function fieldOf(value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
