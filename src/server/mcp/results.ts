import type { CallToolResult } from '@modelcontextprotocol/server'
import type { ProblemError } from '../../api/problem.ts'
import type { RefusalCode } from '../../api/refusals.ts'
import type { ToolOutput } from './tools/tool.ts'

/** Advice for a model on how to handle an error, for codes whose message does not say it. */
const ADVICE: Partial<Readonly<Record<RefusalCode | 'UNREACHABLE' | 'BAD_ANSWER', string>>> = {
  VALIDATION: 'Correct the named arguments and call again.',
  MALFORMED: 'Send plain JSON and call again.',
  UNAUTHENTICATED: 'Ask the user for a valid key; calling again with this one does not help.',
  FORBIDDEN: 'Ask the user for a key with that permission; do not try to work around it.',
  GUARD_RAIL:
    'Stay within the restrictions of the key, or ask the user for another key; do not try to work around them.',
  GUARD_RAIL_RATE: 'Wait for the stated time; calling more often does not help.',
  LINEAGE_DEPTH: 'Do the work in this run, or leave it to the user.',
  LINEAGE_LOOP: 'The schedule triggers you by itself; do not trigger it.',
  PENDING_APPROVAL: 'Tell the user that the schedule must be approved in the console.',
  NOT_FOUND: 'Look up the id with schedule_list, which only lists what your key may see.',
  CONFLICT: 'Look at the current state with schedule_list, then decide.',
  CONCURRENCY_LIMIT: 'A run of the schedule is still active; wait until it has ended, or stop it.',
  ALREADY_ENDED: 'There is nothing left to stop.',
  STALE_VERSION: 'The schedule has changed since: read it again with schedule_list, and call with the new version.',
  BODY_TOO_LARGE: 'Send a smaller request.',
  QUEUE_FULL: 'Wait for the stated time, then call again.',
  SESSION_QUEUE_FULL: 'Wait until the session has worked off its queue, then call again.',
  RUNS_PER_DAY: 'No more runs start today; tell the user.',
  BUDGET: 'The budget is used up: tell the user, or wait for the next period.',
  RATE_LIMITED: 'Wait a second, then call again, less often.',
  DRAINING: 'Call again in a few seconds.',
  BUSY: 'Call again in a few seconds.',
  NOT_STARTED: 'Call again in a few seconds.',
  DATABASE_AWAY: 'Call again in a few seconds.',
  UNREACHABLE: 'The Escapement server does not respond: tell the user, and try again later.',
  BAD_ANSWER: 'The response is not from an Escapement server: tell the user.',
  INTERNAL: 'Tell the user, with the id of the request.',
}

/** The advice for an error code; null if there is none. */
const adviceFor = (code: string): string | null => (ADVICE as Readonly<Record<string, string>>)[code] ?? null

/** The result of a tool call, in the format of the protocol. */
export type ToolResult = CallToolResult

/** The metadata field of an error result that contains the problem for programs. */
export const PROBLEM_META = 'escapement/problem'

/** The parts of a problem that a tool returns. */
export interface ToolProblem {
  readonly code: string
  readonly detail: string
  readonly request_id?: string | undefined
  readonly errors?: readonly ProblemError[] | undefined
  readonly run_id?: string | undefined
  readonly retry_after_ms?: number | undefined
  readonly details?: Readonly<Record<string, unknown>> | undefined
}

/** The result of a successful call. */
export const successResult = ({ structured, text }: ToolOutput<unknown>): ToolResult => ({
  content: [{ type: 'text', text }],
  structuredContent: structured,
})

/** An error as text for a model: the code, what is wrong, field by field, and what to do. */
export function refusalResult(problem: ToolProblem): ToolResult {
  const { code, detail, errors = [], retry_after_ms: wait } = problem
  const lines = [
    `${code}: ${detail}`,
    ...errors.map(
      ({ pointer, message, allowed }) =>
        `- ${pointer === '' ? 'arguments' : pointer}: ${message}${allowedHint(allowed)}`,
    ),
    ...(wait === undefined ? [] : [`Try again in ${Math.max(1, Math.ceil(wait / 1_000))} seconds.`]),
  ]
  const advice = adviceFor(code)
  if (advice !== null) lines.push(advice)
  return {
    isError: true,
    content: [{ type: 'text', text: lines.join('\n') }],
    _meta: { [PROBLEM_META]: { ...problem } },
  }
}

const allowedHint = (allowed: string | undefined): string => (allowed === undefined ? '' : ` (allowed: ${allowed})`)
