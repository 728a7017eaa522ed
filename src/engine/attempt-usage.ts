import type { AttemptReport, Usage } from '../executors/executor.ts'

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
