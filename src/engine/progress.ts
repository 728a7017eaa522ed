import type { AttemptId, OrgId, RunId } from '../domain/ids.ts'
import { outputWork } from '../service/turn/works.ts'
import type { Office } from './office-context.ts'

/** What a run says on its way. */
export interface Saying {
  readonly orgId: OrgId
  readonly runId: RunId
  readonly attemptId: AttemptId
  readonly event: unknown
}

/** Sayings are collected so long: a model says fifty words a second, and each turn costs a commit. */
const COLLECT_MS = 100

export interface Progress {
  readonly say: (saying: Saying) => void
  /** Hands on what has been said so far, before something else is handed in: the last words before an end are heard. */
  readonly flush: (orgId: OrgId) => void
}

/** Collects what runs say on their way and hands it on in events. What a run says after its end is dropped. */
export function createProgress(ctx: {
  readonly officeOf: (orgId: OrgId) => Office
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly stopping: AbortSignal
}): Progress {
  const collected = new Map<OrgId, Saying[]>()
  const flush = (orgId: OrgId): void => {
    const sayings = collected.get(orgId)
    if (sayings === undefined) return
    collected.delete(orgId)
    // Nobody waits for it, and nothing depends on it.
    const handed = ctx.officeOf(orgId).take(outputWork(orgId, sayings))
    handed.catch(() => undefined)
  }
  return {
    flush,
    say: (saying) => {
      const { orgId } = saying
      const known = collected.get(orgId)
      if (known !== undefined) {
        known.push(saying)
        return
      }
      collected.set(orgId, [saying])
      void ctx.sleep(COLLECT_MS, ctx.stopping).then(() => {
        flush(orgId)
      })
    },
  }
}
