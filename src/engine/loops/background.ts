import { runId, type RunId } from '../../domain/ids.ts'
import { later, type Instant } from '../../domain/instant.ts'
import { isTerminal, type RunState } from '../../domain/run/run-machine.ts'
import { createMask } from '../../domain/secret/mask.ts'
import { sessionOfRun } from '../../domain/session/session.ts'
import type { Attempt, AttemptReport, BackgroundAttempt, ExposedSecrets } from '../../executors/executor.ts'
import { failureReport } from '../../executors/http/answer.ts'
import { claimPolls, hastenPolls, nextPoll, schedulePoll, type PolledWork } from '../../features/runs/attempts-store.ts'
import { loadRun } from '../../features/runs/read-store.ts'
import type { RunRecord } from '../../features/runs/record-store.ts'
import type { HistoryRow, NodeParts } from '../node-parts.ts'
import type { Ports } from '../ports.ts'
import { recordReport } from '../reports.ts'
import { createLoop, type Loop } from './loop.ts'

/** Fetches the results of work that services do in the background. */
export interface BackgroundLoop {
  readonly start: () => void
  readonly stop: () => Promise<void>
}

export interface BackgroundContext {
  readonly parts: NodeParts
  readonly ports: Pick<Ports, 'database'>
}

/** The loop is woken when work begins on its node; this period finds the work of nodes that are gone. */
const CHECK_MS = 15_000
/** No other node fetches the same work meanwhile. */
const CLAIM_MS = 30_000
/** How long a service may take to say how far it is. */
const FETCH_MS = 20_000
const MAX_AT_ONCE = 16

/** The wait between two fetches grows with the age of the work: a tenth of it. */
const [MIN_WAIT_MS, MAX_WAIT_MS] = [2_000, 30_000]
const pollWaitMs = (ageMs: number): number => Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, ageMs / 10))

/** Creates the loop; runs that end otherwise, such as by a cancellation, wake it to tell the service. */
export function createBackgroundLoop({ parts, ports }: BackgroundContext): BackgroundLoop {
  const { ctx, health } = parts
  const stopping = new AbortController()
  const polling: PollContext = { parts, ports, stopping: stopping.signal, watched: new Set(), ended: new Set() }
  const loop: Loop = createLoop(() => pass(polling), {
    everyMs: CHECK_MS,
    sleep: ctx.sleep,
    onError: (error, failures) => {
      health.failed(error)
      return Math.min(5_000, 50 * 2 ** Math.min(failures, 7)) * (0.5 + ctx.random() / 2)
    },
  })
  const onTransaction = (_org: unknown, { events }: HistoryRow): void => {
    // Most deployments have no work in the background, and a busy transaction has hundreds of events.
    if (polling.watched.size === 0) return
    for (const [kind, subject, data] of events) {
      const status = (data as { readonly status?: RunState }).status
      if (kind !== 'run.changed' || status === undefined || !isTerminal(status)) continue
      if (polling.watched.delete(runId(subject))) polling.ended.add(runId(subject))
    }
    if (polling.ended.size > 0) loop.wake()
  }
  parts.background.wake = loop.wake
  return {
    start: () => {
      parts.listeners.add(onTransaction)
      loop.start()
    },
    stop: () => {
      parts.listeners.delete(onTransaction)
      stopping.abort()
      return loop.stop()
    },
  }
}

interface PollContext extends BackgroundContext {
  readonly stopping: AbortSignal
  /** Runs whose work this node has fetched before. */
  readonly watched: Set<RunId>
  /** Those of them that have ended otherwise. */
  readonly ended: Set<RunId>
}

async function pass(polling: PollContext): Promise<number | undefined> {
  const { parts, ports, ended } = polling
  const { clock } = parts.ctx
  const now = clock.now()
  if (ended.size > 0) {
    const ids = [...ended]
    await hastenPolls(ports.database, now, ids)
    for (const id of ids) ended.delete(id)
  }
  const due = await claimPolls(ports.database, { now, until: later(now, CLAIM_MS), limit: MAX_AT_ONCE })
  parts.health.answered()
  await Promise.all(due.map((one) => poll(polling, one)))
  if (due.length === MAX_AT_ONCE) return 0
  const next = await nextPoll(ports.database)
  return next === null ? undefined : Math.max(0, next - clock.now())
}

/** Fetches one result; what it decides is written before the work is forgotten. */
async function poll({ parts, ports, stopping, watched }: PollContext, work: PolledWork): Promise<void> {
  const { orgId, runId: id, attemptId } = work
  const run = await loadRun(ports.database, { orgId, id })
  const isAwaited = run?.state === 'awaiting_callback' && run.attemptId === attemptId
  const report = run === undefined ? null : await ask(parts, work, { run, isAwaited, stopping })
  const isOver = !isAwaited || report !== null
  if (isOver) watched.delete(id)
  else watched.add(id)
  if (isAwaited && report !== null) await recordReport(parts, { orgId, runId: id, attemptId, report })
  const now = parts.ctx.clock.now()
  const pollAt: Instant | null = isOver ? null : later(now, pollWaitMs(now - work.createdAt))
  await schedulePoll(ports.database, { tokenHash: work.tokenHash, pollAt })
}

interface PolledRun {
  readonly run: RunRecord
  readonly isAwaited: boolean
  readonly stopping: AbortSignal
}

/** Asks the service for the result, or tells it that nothing is awaited any more. Null: there is no result. */
async function ask(
  parts: NodeParts,
  { work, orgId, attemptId }: PolledWork,
  { run, isAwaited, stopping }: PolledRun,
): Promise<AttemptReport | null> {
  const client = parts.ctx.executors.get(work.executor)?.background
  if (client === undefined)
    return failureReport('executor_offline', `executor ${work.executor} does not fetch results here`)
  let exposed: readonly string[] = []
  const asked: BackgroundAttempt = {
    attempt: attemptOf(run, attemptId),
    reference: work.reference,
    signal: AbortSignal.any([stopping, AbortSignal.timeout(FETCH_MS)]),
    expose: async (request): Promise<ExposedSecrets> => {
      const opened = (await parts.ctx.expose?.(orgId, request)) ?? {
        ok: false,
        message: 'this deployment has no secret store',
      }
      if (opened.ok) exposed = [...exposed, ...Object.values(opened.values)]
      return opened
    },
  }
  if (!isAwaited) {
    await client.cancel(asked)
    return null
  }
  const report = await client.fetch(asked)
  // A service may repeat a secret it was given.
  return report === null || exposed.length === 0 ? report : (createMask(exposed).value(report) as AttemptReport)
}

const attemptOf = (run: RunRecord, attemptId: Attempt['attemptId']): Attempt => ({
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
  payload: run.payload ?? null,
  deadline: run.deadline,
  trace: run.trace,
})
