import type { Invitation } from '../core/rails/invitation.ts'
import type { AgentId, AttemptId, LaneName, OrgId, RunId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import { NODE_LOST, NODE_SHUTDOWN } from '../domain/run/outcome.ts'
import { createMask, type Mask } from '../domain/secret/mask.ts'
import { sessionOfRun } from '../core/session/run-session.ts'
import type {
  Attempt,
  AttemptContext,
  AttemptReport,
  Executor,
  ExposedSecrets,
  SecretsAsked,
  Usage,
} from '../executors/executor.ts'
import type { CarriedProbe } from './commands/probes.ts'
import type { Ended, GatedAttempt } from '../service/probe/gate.ts'
import type { Claim } from '../service/turn/claim.ts'
import type { AttemptOfRun } from '../service/turn/works.ts'
import { AttemptAborted, type AbortReason } from './attempt-aborted.ts'
import { addUsage, storable, withUsage } from './attempt-report.ts'
import type { Saying } from './progress.ts'
import type { EngineTracing } from './tracing-port.ts'

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
  /** Left out: nothing is traced. */
  readonly tracing?: Pick<EngineTracing, 'isOn' | 'perform'> | undefined
  /** Records a token with which the result of the attempt may be reported. */
  readonly offer: (about: AttemptOfRun) => Promise<string>
  /** Records that the executor will report later, and answers with the token to do so: the one that was offered, or a new one. */
  readonly defer: (about: AttemptOfRun, offered?: string) => Promise<string>
  /** Opens secrets of an org. Left out: there are none. */
  readonly expose?: ((orgId: OrgId, asked: SecretsAsked) => Promise<ExposedSecrets>) | undefined
  /** What an attempt needs to make things by itself. Left out: none may. */
  readonly invite?: ((about: InvitedAttempt) => Promise<Invitation | null>) | undefined
  /** Asks before somebody is woken; null: they are. Left out: nobody is ever asked. */
  readonly gate?: ((about: GatedAttempt, signal: AbortSignal) => Promise<Ended | null>) | undefined
}

/** An attempt, the agent it is of, and when it must be over. */
export interface InvitedAttempt extends AttemptOfRun {
  readonly agentId: AgentId
  readonly endsBy: Instant | null
}

export interface ReportedAttempt extends AttemptOfRun {
  readonly report: AttemptReport & Partial<Pick<Ended, 'probe'>>
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
  const running = new Map<RunId, Performer>()
  /** Taken, performed or reported; gone when everything about it is on record. */
  const held = new Map<AttemptId, Promise<void> | null>()
  const perform = async (performer: Performer, sure?: Promise<boolean>): Promise<void> => {
    const { orgId, runId, attemptId } = performer
    const report = sure !== undefined && !(await sure) ? null : await performer.perform()
    performer.release()
    // From here on there is nothing left to abort: what the attempt did is done.
    if (running.get(runId) === performer) running.delete(runId)
    if (report !== null) await ctx.report({ orgId, runId, attemptId, report })
    held.delete(attemptId)
  }
  return {
    take: (claim) => {
      const performer = new Performer(ctx, claim)
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
        // Whatever was only taken begins as soon as others have had their turn.
        if (held.size > 0) await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}

/** What an executor is told about a run that was claimed. */
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
 * An attempt and what its executor has while it works. A class because there are thousands a second: whatever the
 * executor does not look at, its signal above all, is never made.
 */
class Performer implements Execution, AttemptContext {
  readonly orgId: OrgId
  readonly runId: RunId
  readonly attemptId: AttemptId
  readonly sessionKey: string | null
  readonly release: () => void
  readonly #ctx: ExecutionsContext
  readonly #executor: Executor | undefined
  readonly #attempt: Attempt
  readonly #endsBy: Instant | null
  /** What is asked first; null for nearly every attempt. */
  readonly #probe: CarriedProbe | null
  #controller: AbortController | null = null
  #aborted: AttemptAborted | null = null
  #used: Usage | null = null
  /** Hides what was exposed; null: nothing was. */
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
      this.#used = addUsage(this.#used ?? {}, usage)
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

  get expose(): AttemptContext['expose'] {
    return async (asked) => {
      const opened = (await this.#ctx.expose?.(this.orgId, asked)) ?? { ok: false, message: 'no secrets are kept here' }
      if (opened.ok) this.#hide(Object.values(opened.values))
      return opened
    }
  }

  get invite(): AttemptContext['invite'] {
    return async () => {
      const { orgId, runId, attemptId } = this
      const { agentId } = this.#attempt
      const invitation = (await this.#ctx.invite?.({ orgId, runId, attemptId, agentId, endsBy: this.#endsBy })) ?? null
      if (invitation !== null) this.#hide([invitation.key])
      return invitation
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
    // Whoever was told to end before it began has nothing to stop.
    if (this.#aborted !== null) return this.#afterAbort({ outcome: { kind: 'stopped' } })
    if (this.#executor === undefined)
      return { outcome: { kind: 'failed', errorCode: 'executor_offline', retryable: true, retryAfterMs: null } }
    try {
      const ended = this.#probe === null ? null : await this.#ask(this.#probe)
      if (ended !== null) return this.#afterAbort(ended)
      const report = await this.#executor(attempt, this)
      return this.#afterAbort(this.#masked(withUsage(storable(report), this.#used)))
    } catch (error) {
      const errorMessage = error instanceof Error ? error.message : String(error)
      const outcome = { kind: 'failed', errorCode: 'internal', retryable: null, retryAfterMs: null } as const
      return this.#afterAbort(this.#masked({ outcome, errorMessage }))
    }
  }

  async #ask(probe: CarriedProbe): Promise<ReportedAttempt['report'] | null> {
    const { orgId, runId, attemptId, sessionKey: session, signal } = this
    const { scheduleId } = this.#attempt
    const ended = await this.#ctx.gate?.({ ...probe, orgId, runId, attemptId, scheduleId, session }, signal)
    return this.#aborted === null ? (ended ?? null) : { outcome: { kind: 'stopped' } }
  }

  /** Whoever was sent a secret may say it back, in an answer as in an error. */
  #masked(report: AttemptReport): AttemptReport {
    return this.#mask === null ? report : (this.#mask.value(report) as AttemptReport)
  }

  /** A node that goes down, or was taken for lost, takes back what it asked to end: nobody else wanted it to stop. */
  #afterAbort(report: AttemptReport): AttemptReport {
    const reason = this.#aborted?.reason
    if (reason === undefined || report.outcome.kind === 'succeeded') return report
    if (reason === 'shutdown') return { ...report, outcome: NODE_SHUTDOWN }
    return reason === 'lease_lost' ? { ...report, outcome: NODE_LOST } : report
  }
}
