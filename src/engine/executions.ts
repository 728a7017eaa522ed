import type { AttemptId, LaneName, OrgId, RunId } from '../core/ids.ts'
import { NODE_LOST, NODE_SHUTDOWN } from '../core/run/outcome.ts'
import type { Attempt, AttemptReport, Executor, Usage } from '../executors/executor.ts'
import type { Claim } from '../service/turn/claim.ts'
import type { Saying } from './progress.ts'

/** Why an attempt is told to end. */
export type AbortReason =
  | 'stopped'
  | 'stopped_all'
  | 'interrupted'
  | 'cancelled'
  | 'superseded'
  | 'lane_cleared'
  | 'timeout'
  | 'shutdown'
  | 'lease_lost'
  | (string & {})

/** What every abort of an attempt carries as its reason. */
export class AttemptAborted extends Error {
  readonly reason: AbortReason

  constructor(reason: AbortReason) {
    super(`the attempt was told to end: ${reason}`)
    this.name = 'AbortError'
    this.reason = reason
  }
}

/** An attempt this process works on. */
export interface Execution {
  readonly orgId: OrgId
  readonly runId: RunId
  readonly attemptId: AttemptId
  readonly sessionKey: string | null
  readonly abort: (reason: AbortReason) => void
  readonly isAborted: () => boolean
}

export interface ExecutionsContext {
  readonly executorFor: (executorKey: string) => Executor | undefined
  /** Takes the slot of a lane; answers with how to give it back. */
  readonly hold: (held: { readonly orgId: OrgId; readonly lane: LaneName; readonly catchup: boolean }) => () => void
  readonly report: (report: ReportedAttempt) => Promise<void>
  readonly progress: (saying: Saying) => void
  /** Records that the executor will report later, and answers with the token to do so. */
  readonly defer: (about: {
    readonly orgId: OrgId
    readonly runId: RunId
    readonly attemptId: AttemptId
  }) => Promise<string>
}

export interface ReportedAttempt {
  readonly orgId: OrgId
  readonly runId: RunId
  readonly attemptId: AttemptId
  readonly report: AttemptReport
}

export interface Executions {
  /**
   * Takes the slot: whoever wants the attempt to end finds it from now on. Answers with what begins it, to be called
   * once. With `sure` it begins once that says that the claim is still this node's, and not at all otherwise.
   */
  readonly take: (claim: Claim) => (sure?: Promise<boolean>) => void
  readonly all: () => readonly Execution[]
  readonly ofRun: (id: RunId) => Execution | undefined
  /** Whether the attempt is being executed, or has been and is being reported. */
  readonly holds: (id: AttemptId) => boolean
  /** Resolves when nothing is being executed any more and everything has been reported. */
  readonly idle: () => Promise<void>
}

/** Performs the attempts this node has claimed. It decides nothing: what an attempt did is reported, whatever it was. */
export function createExecutions(ctx: ExecutionsContext): Executions {
  const running = new Map<RunId, Execution>()
  /** Taken, performed or reported; gone when everything about it is on record. */
  const held = new Map<AttemptId, Promise<void> | null>()
  return {
    take: (claim) => {
      const { orgId, id: runId, sessionKey, executorKey, trigger } = claim.run
      const { attemptId, lane } = claim
      const stopper = createStopper()
      const isAborted = (): boolean => stopper.reason() !== null
      const execution = { orgId, runId, attemptId, sessionKey, abort: stopper.abort, isAborted }
      const performance = { executor: ctx.executorFor(executorKey), attempt: attemptOf(claim), stopper }
      const release = ctx.hold({ orgId, lane, catchup: trigger === 'catchup' })
      running.set(runId, execution)
      held.set(attemptId, null)
      return (sure) => {
        const reported = performThen(ctx, { ...performance, sure }, (report) => {
          release()
          // From here on there is nothing left to abort: what the attempt did is done.
          if (running.get(runId) === execution) running.delete(runId)
          return report === null ? undefined : ctx.report({ orgId, runId, attemptId, report })
        }).then(() => void held.delete(attemptId))
        held.set(attemptId, reported)
      }
    },
    all: () => [...running.values()],
    ofRun: (id) => running.get(id),
    holds: (id) => held.has(id),
    idle: async () => {
      while (held.size > 0) {
        await Promise.all([...held.values()].filter((reported) => reported !== null))
        // Whatever was only taken begins as soon as others have had their turn.
        if (held.size > 0) await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}

function attemptOf({ run, attemptId, payload }: Claim): Attempt {
  return {
    orgId: run.orgId,
    runId: run.id,
    jobRunId: run.jobRunId,
    attemptId,
    attempt: run.attempt,
    agentId: run.agentId,
    trigger: run.trigger,
    scheduleId: run.scheduleId,
    nominalTime: run.nominal,
    sessionKey: run.sessionKey,
    payload: payload ?? null,
    deadline: run.deadline,
  }
}

/** The signal of an attempt, made when somebody looks at it: most attempts end before anybody does. */
interface Stopper {
  readonly signal: () => AbortSignal
  readonly abort: (reason: AbortReason) => void
  readonly reason: () => AbortReason | null
}

function createStopper(): Stopper {
  let controller: AbortController | null = null
  let aborted: AttemptAborted | null = null
  return {
    signal: () => {
      if (controller === null) {
        controller = new AbortController()
        if (aborted !== null) controller.abort(aborted)
      }
      return controller.signal
    },
    abort: (reason) => {
      if (aborted !== null) return
      aborted = new AttemptAborted(reason)
      controller?.abort(aborted)
    },
    reason: () => aborted?.reason ?? null,
  }
}

interface Performance {
  readonly executor: Executor | undefined
  readonly attempt: Attempt
  readonly stopper: Stopper
}

/** Performs the attempt and hands on what its executor said; null when it was never begun. */
async function performThen(
  ctx: ExecutionsContext,
  { sure, ...performance }: Performance & { readonly sure: Promise<boolean> | undefined },
  end: (report: AttemptReport | null) => Promise<void> | undefined,
): Promise<void> {
  const { stopper } = performance
  let report: AttemptReport | null
  if (sure !== undefined && !(await sure)) report = null
  // Whoever was told to end before it began has nothing to stop.
  else if (stopper.reason() !== null) report = afterAbort({ outcome: { kind: 'stopped' } }, stopper)
  else report = await perform(ctx, performance)
  await end(report)
}

async function perform(ctx: ExecutionsContext, { executor, attempt, stopper }: Performance): Promise<AttemptReport> {
  const { orgId, runId, attemptId } = attempt
  if (executor === undefined)
    return { outcome: { kind: 'failed', errorCode: 'executor_offline', retryable: true, retryAfterMs: null } }
  let used: Usage | null = null
  try {
    const report = await executor(attempt, {
      get signal() {
        return stopper.signal()
      },
      progress: (event) => {
        if (stopper.reason() === null) ctx.progress({ orgId, runId, attemptId, event })
      },
      usage: (usage) => {
        used = addUsage(used ?? {}, usage)
      },
      defer: () => ctx.defer({ orgId, runId, attemptId }),
    })
    return afterAbort(withUsage(report, used), stopper)
  } catch (error) {
    const errorMessage = error instanceof Error ? error.message : String(error)
    return afterAbort(
      { outcome: { kind: 'failed', errorCode: 'internal', retryable: null, retryAfterMs: null }, errorMessage },
      stopper,
    )
  }
}

const withUsage = (report: AttemptReport, used: Usage | null): AttemptReport =>
  used === null ? report : { ...report, usage: { ...used, ...report.usage } }

/** A node that goes down, or was taken for lost, takes back what it asked to end: nobody else wanted the work to stop. */
function afterAbort(report: AttemptReport, stopper: Stopper): AttemptReport {
  if (report.outcome.kind === 'succeeded') return report
  if (stopper.reason() === 'shutdown') return { ...report, outcome: NODE_SHUTDOWN }
  return stopper.reason() === 'lease_lost' ? { ...report, outcome: NODE_LOST } : report
}

function addUsage(a: Usage, b: Usage): Usage {
  const sum = (x: number | undefined, y: number | undefined): number => (x ?? 0) + (y ?? 0)
  return {
    inputTokens: sum(a.inputTokens, b.inputTokens),
    outputTokens: sum(a.outputTokens, b.outputTokens),
    costMicros: sum(a.costMicros, b.costMicros),
    ...(b.contextWindow === undefined ? {} : { contextWindow: b.contextWindow }),
    ...(b.contextWindow === undefined && a.contextWindow !== undefined ? { contextWindow: a.contextWindow } : {}),
  }
}
