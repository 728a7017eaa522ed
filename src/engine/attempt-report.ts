import { isDeeper, MAX_ANSWER_DEPTH } from '../core/json.ts'
import type { AttemptReport, Usage } from '../executors/executor.ts'
import { failure, TOO_DEEP } from '../executors/http/answer.ts'

/** A report that can be kept: what is nested too deep for a row has failed, whoever executed it. */
export function storable(report: AttemptReport): AttemptReport {
  const { output } = report
  if (!isDeeper(output, MAX_ANSWER_DEPTH) || isCircular(output)) return report
  const { output: _output, summary: _summary, ...rest } = report
  return { ...rest, ...failure('malformed_answer', TOO_DEEP) }
}

/** What contains itself is kept as text, as everything that JSON cannot hold. */
function isCircular(value: unknown): boolean {
  try {
    JSON.stringify(value)
    return false
  } catch (error) {
    return error instanceof TypeError
  }
}

/** A report with what the attempt said on its way that it used; what it says at its end wins. */
export const withUsage = (report: AttemptReport, used: Usage | null): AttemptReport =>
  used === null ? report : { ...report, usage: { ...used, ...report.usage } }

/** Both together; the context window is the one that was said last. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum = (x: number | undefined, y: number | undefined): number => (x ?? 0) + (y ?? 0)
  return {
    inputTokens: sum(a.inputTokens, b.inputTokens),
    outputTokens: sum(a.outputTokens, b.outputTokens),
    costMicros: sum(a.costMicros, b.costMicros),
    ...(b.contextWindow === undefined ? {} : { contextWindow: b.contextWindow }),
    ...(b.contextWindow === undefined && a.contextWindow !== undefined ? { contextWindow: a.contextWindow } : {}),
  }
}
