import type { AttemptId, OrgId, RunId } from '../domain/ids.ts'
import { outputCommand } from './commands/engine-commands.ts'
import type { OrgActor } from './org-actor.ts'

/** An event that a run reports while it works. */
export interface ProgressEvent {
  readonly orgId: OrgId
  readonly runId: RunId
  readonly attemptId: AttemptId
  readonly event: unknown
}

/** Events are collected for this long: a model emits fifty words a second, and each transaction costs a commit. */
const PROGRESS_BATCH_MS = 100

export interface Progress {
  readonly add: (progressEvent: ProgressEvent) => void
  /** Submits the events collected so far, so that they precede the report that follows. */
  readonly flush: (orgId: OrgId) => void
}

/** Collects the progress events of runs and submits them in batches. Events after the end of a run are dropped. */
export function createProgress(ctx: {
  readonly officeOf: (orgId: OrgId) => OrgActor
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly stopping: AbortSignal
}): Progress {
  const collected = new Map<OrgId, ProgressEvent[]>()
  const flush = (orgId: OrgId): void => {
    const progressEvents = collected.get(orgId)
    if (progressEvents === undefined) return
    collected.delete(orgId)
    // No caller waits for it, and nothing depends on it.
    const submitted = ctx.officeOf(orgId).execute(outputCommand(orgId, progressEvents))
    submitted.catch(() => undefined)
  }
  return {
    flush,
    add: (progressEvent) => {
      const { orgId } = progressEvent
      const known = collected.get(orgId)
      if (known !== undefined) {
        known.push(progressEvent)
        return
      }
      collected.set(orgId, [progressEvent])
      void ctx.sleep(PROGRESS_BATCH_MS, ctx.stopping).then(() => {
        flush(orgId)
      })
    },
  }
}
