import type { AttemptApiAccess } from '../domain/access/restrictions.ts'
import type { AgentId, AttemptId, LaneName, OrgId, RunId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import { isDeeperThan, MAX_ANSWER_DEPTH } from '../domain/json.ts'
import { NODE_LOST, NODE_SHUTDOWN } from '../domain/run/outcome.ts'
import { createMask, type Mask } from '../domain/secret/mask.ts'
import { sessionOfRun } from '../domain/session/session.ts'
import type { AttemptOfRun } from './commands/engine-commands.ts'
import type { RunProbe } from './commands/probes.ts'
import type { ProgressEvent } from './progress.ts'
import type { EngineTracing } from './tracing-port.ts'
import type { Claim } from './transaction/claim.ts'
import type {
  Attempt,
  AttemptContext,
  AttemptReport,
  Executor,
  ExposedSecrets,
  SecretsRequest,
  Usage,
} from '../executors/executor.ts'
import type { BackgroundWork } from '../features/runs/attempts-store.ts'
import { failureReport, TOO_DEEP } from '../executors/http/answer.ts'
import type { ProbeEnding, ProbedAttempt } from '../features/probes/gate.ts'

/** Why an attempt is aborted. */
type AbortReason =
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

/** The reason of every abort of an attempt. */
export class AttemptAborted extends Error {
  readonly reason: AbortReason

  constructor(reason: AbortReason) {
    super(`the attempt was aborted: ${reason}`)
    this.name = 'AbortError'
    this.reason = reason
  }
}

/** Turns a report whose output is nested too deep for a row into a failure, whichever executor sent it. */
function toStorableReport(report: AttemptReport): AttemptReport {
  const { output } = report
  if (!isDeeperThan(output, MAX_ANSWER_DEPTH) || isCircular(output)) return report
  const { output: _output, summary: _summary, ...rest } = report
  return { ...rest, ...failureReport('malformed_answer', TOO_DEEP) }
}

/** Circular values are stored as text, like everything else that JSON cannot hold. */
function isCircular(value: unknown): boolean {
  try {
    JSON.stringify(value)
    return false
  } catch (error) {
    return error instanceof TypeError
  }
}

/** Adds the usage reported during the attempt to its report; values in the final report win. */
const withUsage = (report: AttemptReport, used: Usage | null): AttemptReport =>
  used === null ? report : { ...report, usage: { ...used, ...report.usage } }

/** The sum of both; the context window is the latest one reported. */
function sumUsage(a: Usage, b: Usage): Usage {
  const sum = (x: number | undefined, y: number | undefined): number => (x ?? 0) + (y ?? 0)
  return {
    inputTokens: sum(a.inputTokens, b.inputTokens),
    outputTokens: sum(a.outputTokens, b.outputTokens),
    ...(a.cachedInputTokens === undefined && b.cachedInputTokens === undefined
      ? {}
      : { cachedInputTokens: sum(a.cachedInputTokens, b.cachedInputTokens) }),
    ...(a.reasoningTokens === undefined && b.reasoningTokens === undefined
      ? {}
      : { reasoningTokens: sum(a.reasoningTokens, b.reasoningTokens) }),
    costMicros: sum(a.costMicros, b.costMicros),
    ...(b.contextWindow === undefined ? {} : { contextWindow: b.contextWindow }),
    ...(b.contextWindow === undefined && a.contextWindow !== undefined ? { contextWindow: a.contextWindow } : {}),
  }
}

/** An attempt this process executes. */
interface Execution {
  readonly orgId: OrgId
  readonly runId: RunId
  readonly attemptId: AttemptId
  readonly sessionKey: string | null
  readonly abort: (reason: AbortReason) => void
  readonly isAborted: () => boolean
}

export interface ExecutionsContext {
  readonly executorFor: (executorKey: string) => Executor | undefined
  /** Takes a slot of a lane; returns the function that releases it. */
  readonly hold: (held: { readonly orgId: OrgId; readonly lane: LaneName; readonly catchup: boolean }) => () => void
  readonly report: (report: ReportedAttempt) => Promise<void>
  readonly progress: (progressEvent: ProgressEvent) => void
  /** Left out: nothing is traced. */
  readonly tracing?: Pick<EngineTracing, 'isOn' | 'perform'> | undefined
  /** Records a callback token with which the result of the attempt may be reported. */
  readonly offer: (about: AttemptOfRun) => Promise<string>
  /** Records that the executor reports later. Returns the callback token: the offered one, or a new one. */
  readonly defer: (about: AttemptOfRun, offered?: string) => Promise<string>
  /** Records that a service works in the background, and where its result is fetched. */
  readonly deferToService: (about: AttemptOfRun, work: BackgroundWork) => Promise<void>
  /** Opens secrets of an org. Left out: there are none. */
  readonly expose?: ((orgId: OrgId, asked: SecretsRequest) => Promise<ExposedSecrets>) | undefined
  /** Creates the API key an attempt may use. Left out: no attempt gets one. */
  readonly createAttemptKey?: ((about: AttemptKeyRequest) => Promise<AttemptApiAccess | null>) | undefined
  /** Runs the probe before the executor; null lets the attempt go on. Left out: no attempt has a probe. */
  readonly gate?: ((about: ProbedAttempt, signal: AbortSignal) => Promise<ProbeEnding | null>) | undefined
}

/** An attempt, its agent, and when it must be over. */
interface AttemptKeyRequest extends AttemptOfRun {
  readonly agentId: AgentId
  readonly endsBy: Instant | null
}

export interface ReportedAttempt extends AttemptOfRun {
  readonly report: AttemptReport & Partial<Pick<ProbeEnding, 'probe'>>
}

export interface Executions {
  /**
   * Takes the slot; from now on the attempt can be aborted. Returns the function that starts the attempt, to be called
   * once. With `sure` the attempt starts only if that resolves to true: the claim still belongs to this node.
   */
  readonly reserve: (claim: Claim) => (sure?: Promise<boolean>) => void
  readonly all: () => readonly Execution[]
  readonly ofRun: (id: RunId) => Execution | undefined
  /** Whether the attempt is being executed, or its report is being recorded. */
  readonly holds: (id: AttemptId) => boolean
  /** Resolves when no attempt is being executed and every report is recorded. */
  readonly idle: () => Promise<void>
}

/** Executes the attempts this node has claimed. Every outcome is reported; what follows is decided elsewhere. */
export function createExecutions(ctx: ExecutionsContext): Executions {
  const running = new Map<RunId, AttemptExecution>()
  /** Claimed, executing or reporting; removed once the report is recorded. */
  const held = new Map<AttemptId, Promise<void> | null>()
  const perform = async (performer: AttemptExecution, sure?: Promise<boolean>): Promise<void> => {
    const { orgId, runId, attemptId } = performer
    const report = sure !== undefined && !(await sure) ? null : await performer.perform()
    performer.release()
    // The attempt is over, so there is nothing left to abort.
    if (running.get(runId) === performer) running.delete(runId)
    if (report !== null) await ctx.report({ orgId, runId, attemptId, report })
    held.delete(attemptId)
  }
  return {
    reserve: (claim) => {
      const performer = new AttemptExecution(ctx, claim)
      running.set(performer.runId, performer)
      held.set(performer.attemptId, null)
      return (sure) => {
        held.set(performer.attemptId, perform(performer, sure))
      }
    },
    all: () => [...running.values()],
    ofRun: (id) => running.get(id),
    holds: (id) => held.has(id),
    idle: async () => {
      while (held.size > 0) {
        await Promise.all([...held.values()].filter((reported) => reported !== null))
        // An attempt that is claimed but not started starts once the event loop gets to it.
        if (held.size > 0) await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}

/** The attempt that an executor receives for a claimed run. */
export function attemptOf({ run, attemptId, payload }: Pick<Claim, 'run' | 'attemptId' | 'payload'>): Attempt {
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
    sessionKey: sessionOfRun(run),
    payload: payload ?? null,
    deadline: run.deadline,
    trace: run.trace,
  }
}

/**
 * An attempt and the context its executor works with. A class, because there are thousands a second: parts the executor
 * does not use, above all the signal, are never created.
 */
class AttemptExecution implements Execution, AttemptContext {
  readonly orgId: OrgId
  readonly runId: RunId
  readonly attemptId: AttemptId
  readonly sessionKey: string | null
  readonly release: () => void
  readonly #ctx: ExecutionsContext
  readonly #executor: Executor | undefined
  readonly #executorKey: string
  readonly #attempt: Attempt
  readonly #endsBy: Instant | null
  /** The probe to run first; null for nearly every attempt. */
  readonly #probe: RunProbe | null
  #controller: AbortController | null = null
  #aborted: AttemptAborted | null = null
  #used: Usage | null = null
  /** Masks exposed secrets; null: none was exposed. */
  #mask: Mask | null = null
  #exposed: readonly string[] | null = null

  constructor(ctx: ExecutionsContext, claim: Claim) {
    const { run, attemptId, lane } = claim
    this.orgId = run.orgId
    this.runId = run.id
    this.attemptId = attemptId
    this.sessionKey = run.sessionKey
    this.#ctx = ctx
    this.#executor = ctx.executorFor(run.executorKey)
    this.#executorKey = run.executorKey
    this.#attempt = attemptOf(claim)
    this.#endsBy = run.endsBy
    this.#probe = claim.probe
    this.release = ctx.hold({ orgId: run.orgId, lane, catchup: run.trigger === 'catchup' })
  }

  abort(reason: AbortReason): void {
    if (this.#aborted !== null) return
    this.#aborted = new AttemptAborted(reason)
    this.#controller?.abort(this.#aborted)
  }

  isAborted(): boolean {
    return this.#aborted !== null
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.#aborted !== null) this.#controller.abort(this.#aborted)
    }
    return this.#controller.signal
  }

  get progress(): AttemptContext['progress'] {
    return (event) => {
      const { orgId, runId, attemptId } = this
      if (this.#aborted !== null) return
      this.#ctx.progress({ orgId, runId, attemptId, event: this.#mask === null ? event : this.#mask.value(event) })
    }
  }

  get usage(): AttemptContext['usage'] {
    return (usage) => {
      this.#used = sumUsage(this.#used ?? {}, usage)
    }
  }

  get offer(): AttemptContext['offer'] {
    const { orgId, runId, attemptId } = this
    return () => this.#ctx.offer({ orgId, runId, attemptId })
  }

  get defer(): AttemptContext['defer'] {
    const { orgId, runId, attemptId } = this
    return (offered) => this.#ctx.defer({ orgId, runId, attemptId }, offered)
  }

  get deferToService(): AttemptContext['deferToService'] {
    const { orgId, runId, attemptId } = this
    return (reference) =>
      this.#ctx.deferToService({ orgId, runId, attemptId }, { executor: this.#executorKey, reference })
  }

  get expose(): AttemptContext['expose'] {
    return async (asked) => {
      const opened = (await this.#ctx.expose?.(this.orgId, asked)) ?? {
        ok: false,
        message: 'this deployment has no secret store',
      }
      if (opened.ok) this.#hide(Object.values(opened.values))
      return opened
    }
  }

  get invite(): AttemptContext['invite'] {
    return async () => {
      const { orgId, runId, attemptId } = this
      const { agentId } = this.#attempt
      const attemptKey =
        (await this.#ctx.createAttemptKey?.({ orgId, runId, attemptId, agentId, endsBy: this.#endsBy })) ?? null
      if (attemptKey !== null) this.#hide([attemptKey.key])
      return attemptKey
    }
  }

  #hide(values: readonly string[]): void {
    this.#exposed = [...(this.#exposed ?? []), ...values]
    this.#mask = createMask(this.#exposed)
  }

  perform(): Promise<ReportedAttempt['report']> {
    const { tracing } = this.#ctx
    if (tracing?.isOn() !== true) return this.#execute(this.#attempt)
    return tracing.perform(this.#attempt, (traced) => this.#execute(traced))
  }

  async #execute(attempt: Attempt): Promise<AttemptReport> {
    // An attempt that is aborted before it starts has nothing to stop.
    if (this.#aborted !== null) return this.#afterAbort({ outcome: { kind: 'stopped' } })
    if (this.#executor === undefined)
      return { outcome: { kind: 'failed', errorCode: 'executor_offline', retryable: true, retryAfterMs: null } }
    try {
      const ended = this.#probe === null ? null : await this.#ask(this.#probe)
      if (ended !== null) return this.#afterAbort(ended)
      const report = await this.#executor(attempt, this)
      return this.#afterAbort(this.#masked(withUsage(toStorableReport(report), this.#used)))
    } catch (error) {
      const errorMessage = error instanceof Error ? error.message : String(error)
      const outcome = { kind: 'failed', errorCode: 'internal', retryable: null, retryAfterMs: null } as const
      return this.#afterAbort(this.#masked({ outcome, errorMessage }))
    }
  }

  async #ask(probe: RunProbe): Promise<ReportedAttempt['report'] | null> {
    const { orgId, runId, attemptId, sessionKey: session, signal } = this
    const { scheduleId } = this.#attempt
    const ended = await this.#ctx.gate?.({ ...probe, orgId, runId, attemptId, scheduleId, session }, signal)
    return this.#aborted === null ? (ended ?? null) : { outcome: { kind: 'stopped' } }
  }

  /** An executor may repeat a secret it was given, in an output or in an error. */
  #masked(report: AttemptReport): AttemptReport {
    return this.#mask === null ? report : (this.#mask.value(report) as AttemptReport)
  }

  /**
   * When a node shuts down or is declared lost, the abort is the node's own; the attempt counts as lost, not as
   * stopped.
   */
  #afterAbort(report: AttemptReport): AttemptReport {
    const reason = this.#aborted?.reason
    if (reason === undefined || report.outcome.kind === 'succeeded') return report
    if (reason === 'shutdown') return { ...report, outcome: NODE_SHUTDOWN }
    return reason === 'lease_lost' ? { ...report, outcome: NODE_LOST } : report
  }
}
