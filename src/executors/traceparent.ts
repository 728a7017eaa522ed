import { createHash } from 'node:crypto'
import type { Attempt } from './executor.ts'

const hexOf = (text: string, length: number): string => createHash('sha256').update(text).digest('hex').slice(0, length)

/**
 * The `traceparent` of an attempt. A run that belongs to no trace begins one: its attempts share the trace id. It counts
 * as sampled, because an agent that follows its caller would otherwise stop recording.
 */
export const traceparentOf = ({ trace, runId, attemptId }: Pick<Attempt, 'trace' | 'runId' | 'attemptId'>): string =>
  trace ?? `00-${hexOf(runId, 32)}-${hexOf(attemptId, 16)}-01`
