import type { Page } from '../../../src/api/page.ts'
import type { RunView } from '../../../src/features/runs/schema.ts'

type Kept =
  | ('id' | 'status' | 'trigger' | 'agent_id' | 'schedule_id' | 'session_key' | 'reason' | 'decision' | 'attempt')
  | ('created_at' | 'started_at' | 'finished_at' | 'duration_ms' | 'nominal_time' | 'error_code' | 'error_message')
  | 'agent_error_code'

/** What the list knows of a run: without what it was given and what it answered, of which there may be much. */
export interface RunRow extends Pick<RunView, Kept> {
  /** The beginning of what it was told. */
  readonly text: string | null
  /** Input and output tokens, and the cost; null where none were reported. */
  readonly tokens: number | null
  readonly cost: number | null
}

/** A page of the list. */
export type RunRowPage = Page<RunRow>

const MOST_TEXT = 160

/** A run as the list keeps it. */
export function rowOf(run: RunView): RunRow {
  const { id, status, trigger, agent_id, schedule_id, session_key, reason, decision, attempt } = run
  const {
    created_at,
    started_at,
    finished_at,
    duration_ms,
    nominal_time,
    error_code,
    error_message,
    agent_error_code,
  } = run
  return {
    ...{ id, status, trigger, agent_id, schedule_id, session_key, reason, decision, attempt },
    ...{ created_at, started_at, finished_at, duration_ms, nominal_time, error_code, agent_error_code },
    error_message: error_message?.slice(0, MOST_TEXT) ?? null,
    text: wordsOf(run.payload)?.slice(0, MOST_TEXT) ?? null,
    ...usedBy(run),
  }
}

function usedBy({ usage }: Pick<RunView, 'usage'>): Pick<RunRow, 'tokens' | 'cost'> {
  const { input_tokens: input, output_tokens: output, cost = null } = usage ?? {}
  return { tokens: input === undefined && output === undefined ? null : (input ?? 0) + (output ?? 0), cost }
}

/** The time that the list is sorted by. A run that waited, or was retried, stays in its place. */
export const listedTime = ({ created_at: at }: Pick<RunRow, 'created_at'>): string => at

/** What a run was told, when that is a text: the text of a message, the prompt of a schedule, the action of a task. */
export function wordsOf(payload: unknown): string | null {
  if (typeof payload === 'string') return payload
  if (typeof payload !== 'object' || payload === null) return null
  const { text, prompt, action } = payload as Readonly<Record<string, unknown>>
  return [text, prompt, action].find((words): words is string => typeof words === 'string' && words !== '') ?? null
}
