import type { CallToolResult } from '@modelcontextprotocol/server'
import { adviceFor } from './tools/advice.ts'
import type { Told } from '../server/mcp/tools/tool.ts'
import type { ProblemError } from '../api/problem.ts'

/** What a call of a tool comes to, in the shape of the protocol. */
export type ToolResult = CallToolResult

/** Under this name a result that is a refusal carries what programs want to know of it. */
export const PROBLEM_META = 'escapement/problem'

/** What is told of a refusal, wherever it was made. */
export interface ToldProblem {
  readonly code: string
  readonly detail: string
  readonly request_id?: string | undefined
  readonly errors?: readonly ProblemError[] | undefined
  readonly run_id?: string | undefined
  readonly retry_after_ms?: number | undefined
  readonly details?: Readonly<Record<string, unknown>> | undefined
}

/** What a tool has answered. */
export const answeredWith = ({ structured, text }: Told<unknown>): ToolResult => ({
  content: [{ type: 'text', text }],
  structuredContent: structured,
})

/** A refusal as a model reads it: the code, what is wrong, field by field, and what to do. */
export function refusedWith(problem: ToldProblem): ToolResult {
  const { code, detail, errors = [], retry_after_ms: wait } = problem
  const lines = [
    `${code}: ${detail}`,
    ...errors.map(
      ({ pointer, message, allowed }) => `- ${pointer === '' ? 'arguments' : pointer}: ${message}${hint(allowed)}`,
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

const hint = (allowed: string | undefined): string => (allowed === undefined ? '' : ` (allowed: ${allowed})`)
