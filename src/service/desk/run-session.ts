import type { SessionKey } from '../../domain/ids.ts'
import { runOfSession, sessionOfRun } from '../../core/session/run-session.ts'
import type { RunRow } from '../../store/run-row.ts'
import { putRun, takeRun, type Desk } from './desk.ts'

/** The pending run whose session of its own has this key; undefined: there is none, or it has joined its session. */
export function runToJoin({ runs }: Desk, key: SessionKey): RunRow | undefined {
  const of = runOfSession(key)
  const run = of === null ? undefined : runs.get(of.runId)
  return run?.sessionKey === null && sessionOfRun(run) === key ? run : undefined
}

/**
 * Lets a run take its place in the session of its own, once that exists: what is sent there waits for it, and /stop finds
 * it. On record it has no session: the key follows from the run.
 */
export function joinSession(desk: Desk, key: SessionKey): RunRow | undefined {
  const run = runToJoin(desk, key)
  if (run === undefined) return undefined
  takeRun(desk, run)
  run.sessionKey = key
  putRun(desk, run)
  return run
}
