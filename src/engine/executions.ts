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
   * Takes the slot and begins. With `sure` it begins once that says that the claim is still this node's, and not at all
   * otherwise: the slot is taken meanwhile, and whoever wants the attempt to end finds it.
   */
  readonly start: (claim: Claim, sure?: Promise<boolean>) => void
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
  const reporting = new Map<AttemptId, Promise<void>>()
  return {
    start: (claim, sure) => {
      const { execution, performed } = begin(ctx, claim, sure)
      const { orgId, runId, attemptId } = execution
      running.set(runId, execution)
      const reported = performed.then(async (report) => {
        // From here on there is nothing left to abort: what the attempt did is done.
        if (running.get(runId) === execution) running.delete(runId)
        if (report !== null) await ctx.report({ orgId, runId, attemptId, report })
      })
      reporting.set(attemptId, reported)
      void reported.finally(() => reporting.delete(attemptId))
    },
    all: () => [...running.values()],
    ofRun: (id) => running.get(id),
    holds: (id) => reporting.has(id),
    idle: async () => {
      while (reporting.size > 0) await Promise.all(reporting.values())
    },
  }
}

interface Begun {
  readonly execution: Execution
  /** What its executor said, once it has returned and its lane slot is free. Null: it was never begun. */
  readonly performed: Promise<AttemptReport | null>
}

function begin(
  ctx: ExecutionsContext,
  { run, lane, attemptId, payload }: Claim,
  sure: Promise<boolean> | undefined,
): Begun {
  const { orgId, id: runId, sessionKey } = run
  const stopper = createStopper()
  const attempt: Attempt = {
    orgId,
    runId,
    jobRunId: run.jobRunId,
    attemptId,
    attempt: run.attempt,
    agentId: run.agentId,
    trigger: run.trigger,
    scheduleId: run.scheduleId,
    nominalTime: run.nominal,
    sessionKey,
    payload: payload ?? null,
    deadline: run.deadline,
  }
  const release = ctx.hold({ orgId, lane, catchup: run.trigger === 'catchup' })
  const executor = ctx.executorFor(run.executorKey)
  const about = { orgId, runId, attemptId }
  const performance = { executor, attempt, stopper }
  const performed = (sure === undefined ? perform(ctx, performance) : performIf(sure, ctx, performance)).finally(
    release,
  )
  const execution = {
    ...about,
    sessionKey,
    abort: stopper.abort,
    isAborted: () => stopper.reason() !== null,
  }
  return { execution, performed }
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

async function performIf(
  sure: Promise<boolean>,
  ctx: ExecutionsContext,
  performance: Performance,
): Promise<AttemptReport | null> {
  if (!(await sure)) return null
  // Whoever was told to end before it began has nothing to stop.
  if (performance.stopper.reason() !== null) return afterAbort({ outcome: { kind: 'stopped' } }, performance.stopper)
  return perform(ctx, performance)
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
