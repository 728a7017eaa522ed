import type { Executor } from '../executor.ts'

/** Answers with what it was given. The agent to try things with: it works offline, costs nothing and never fails. */
export const echo: Executor = (attempt, { signal }) =>
  Promise.resolve(
    signal.aborted
      ? { outcome: { kind: 'stopped' } }
      : { outcome: { kind: 'succeeded' }, output: textOf(attempt.payload) },
  )

function textOf(payload: unknown): unknown {
  if (typeof payload !== 'object' || payload === null) return payload
  if ('prompt' in payload) return payload.prompt
  return 'text' in payload ? payload.text : payload
}
