import { ErrGatewayDraining } from '../api/refusals.ts'
import type { OrgId, RunId, SessionKey } from '../domain/ids.ts'
import { isTerminal, type RunState } from '../domain/run/run-machine.ts'
import type { NodeParts } from '../engine/node-parts.ts'

/** People who wait for a run to end. */
export interface Waiters {
  /**
   * Resolves when the run has ended, as far as events tell, and when events are missing that might have told. Check the
   * record after you have begun to wait, and again when it resolves.
   */
  readonly ended: (id: RunId) => { readonly promise: Promise<void>; readonly give: () => void }
  /** Somebody waits in this session. Answers with how to say that nobody does any more. */
  readonly enter: (orgId: OrgId, key: SessionKey) => () => void
  readonly sessions: () => readonly (readonly [OrgId, SessionKey])[]
  /** The node goes down: whoever still waits is told that it will not happen here. */
  readonly dismiss: () => void
}

interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export function createWaiters(parts: NodeParts): Waiters {
  const waiting = new Map<RunId, Set<Waiter>>()
  const sessions = new Set<readonly [OrgId, SessionKey]>()
  parts.hearers.add((_, turn) => {
    for (const [kind, subject, data] of turn.events) {
      if (kind !== 'run.changed' || !isTerminal(data['status'] as RunState)) continue
      for (const { resolve } of waiting.get(subject as RunId) ?? []) resolve()
    }
  })
  parts.gapHearers.add(() => {
    for (const waiters of waiting.values()) for (const { resolve } of waiters) resolve()
  })
  return {
    ended: (id) => {
      let give = (): void => undefined
      const promise = new Promise<void>((resolve, reject) => {
        const known = waiting.get(id) ?? new Set()
        const waiter = { resolve, reject }
        waiting.set(id, known.add(waiter))
        give = () => {
          known.delete(waiter)
          if (known.size === 0) waiting.delete(id)
          resolve()
        }
      })
      // Whoever still looks at the record has not begun to wait, and must not end the process by that.
      promise.catch(() => undefined)
      return { promise, give }
    },
    enter: (orgId, key) => {
      const pair = [orgId, key] as const
      sessions.add(pair)
      return () => sessions.delete(pair)
    },
    sessions: () => [...sessions],
    dismiss: () => {
      for (const waiters of waiting.values()) for (const { reject } of waiters) reject(new ErrGatewayDraining())
    },
  }
}
