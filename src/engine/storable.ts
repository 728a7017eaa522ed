import { isDeeper, MAX_ANSWER_DEPTH } from '../core/json.ts'
import type { AttemptReport } from '../executors/executor.ts'
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
