import type { Executor } from '../executor.ts'

/** Returns its input. For trying things out: it works offline, costs nothing and never fails. */
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
