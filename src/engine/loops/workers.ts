import { attemptId, type AgentId, type AttemptId, type OrgId } from '../../domain/ids.ts'
import { holderStatus } from '../../domain/run/reports.ts'
import { dispatchOf } from '../../executors/dispatch.ts'
import { traceparentOf } from '../../executors/executor.ts'
import { releaseCommand, type Assignment, type WorkerOffer } from '../commands/assign.ts'
import type { LoadedOrg } from '../org-state/memory.ts'
import type { WaitingWorker, WorkerUpdates } from '../../features/workers/service.ts'
import type { WorkerInfo } from '../../features/workers/service.ts'
import { attemptOf } from '../executions.ts'
import type { OrgActor } from '../org-actor.ts'

/**
 * Workers that wait at this node. The request of a worker is held open until a transaction of its org assigns a run to
 * it: every change that makes a run ready causes a transaction on this node, so no polling is needed.
 */
export interface Workers {
  readonly wait: (worker: WaitingWorker) => Promise<WorkerUpdates>
  /** The offers of the workers that wait for runs of the org; null: none waits. */
  readonly offers: (orgId: OrgId) => readonly WorkerOffer[] | null
  /** A transaction was committed: answers the workers it concerns. */
  readonly committed: (actor: OrgActor, assigned: readonly Assignment[]) => void
  /** The ids of the waiting workers, which are alive. */
  readonly waiting: () => readonly string[]
  /** Stores the workers that are alive in the deployment. */
  readonly setAlive: (alive: readonly WorkerInfo[]) => void
  /** The connected workers of the deployment that take runs of the agent. */
  readonly serving: (orgId: OrgId, agentId: AgentId) => readonly Pick<WorkerInfo, 'id' | 'capacity'>[]
  /** The node stops: answers every waiting worker. */
  readonly answerAll: () => void
}

export interface WorkersContext {
  readonly actorOf: (orgId: OrgId) => OrgActor
  /** How long a worker has to start an assigned run. */
  readonly beginMs: () => number
}

type WorkerRun = Assignment['run']

interface WaitingRequest {
  readonly worker: WaitingWorker
  readonly offer: WorkerOffer
  readonly finish: (pendingAnswer: WorkerUpdates) => void
}

const EMPTY_ANSWER: WorkerUpdates = { attempts: [], cancel: [] }

export function createWorkers(ctx: WorkersContext): Workers {
  const waiting = new Map<OrgId, Set<WaitingRequest>>()
  let seen: readonly WorkerInfo[] = []
  const all = (): readonly WaitingRequest[] => [...waiting.values()].flatMap((waiters) => [...waiters])
  return {
    wait: (worker) => {
      const beginMs = ctx.beginMs()
      const { workerId, agents, capacity } = worker
      return waitForAssignment(ctx, waiting, { worker, offer: { workerId, agents, capacity, beginMs } })
    },
    offers: (orgId) => {
      const waiters = waiting.get(orgId)
      if (waiters === undefined) return null
      return [...waiters].filter(({ worker }) => !worker.draining).map(({ offer }) => offer)
    },
    committed: (actor, assigned) => {
      const waiters = waiting.get(actor.orgId)
      if (waiters === undefined && assigned.length === 0) return
      answerWorkers(actor, waiters ?? new Set(), assigned)
    },
    waiting: () => all().map(({ worker }) => worker.workerId),
    setAlive: (alive) => {
      seen = alive
    },
    serving: (orgId, agentId) => {
      const here = [...(waiting.get(orgId) ?? [])].map(({ worker }) => ({ ...worker, id: worker.workerId }))
      const known = new Set(here.map(({ id }) => id))
      const elsewhere = seen.filter((worker) => worker.orgId === orgId && !known.has(worker.id))
      return [...here, ...elsewhere].filter(({ draining, agents }) => !draining && agents.includes(agentId))
    },
    answerAll: () => {
      for (const { finish } of all()) finish(EMPTY_ANSWER)
    },
  }
}

async function waitForAssignment(
  ctx: WorkersContext,
  waiting: Map<OrgId, Set<WaitingRequest>>,
  { worker, offer }: Omit<WaitingRequest, 'finish'>,
): Promise<WorkerUpdates> {
  const { orgId, signal, waitMs } = worker
  if (signal.aborted) return EMPTY_ANSWER
  const waiters = waiting.get(orgId) ?? new Set()
  waiting.set(orgId, waiters)
  let finish: WaitingRequest['finish'] = () => undefined
  const pendingAnswer = new Promise<WorkerUpdates>((resolve) => {
    finish = (answer) => {
      waiters.delete(waiter)
      if (waiters.size === 0 && waiting.get(orgId) === waiters) waiting.delete(orgId)
      resolve(answer)
    }
  })
  const waiter: WaitingRequest = { worker, offer, finish }
  waiters.add(waiter)
  const answerEmpty = (): void => {
    finish(EMPTY_ANSWER)
  }
  signal.addEventListener('abort', answerEmpty, { once: true })
  let timer: NodeJS.Timeout | undefined
  try {
    // Causes a transaction, which assigns the runs that are ready; with no time to wait, that is all.
    await ctx.actorOf(orgId).execute({ orgId, apply: () => undefined })
    if (waitMs <= 0) answerEmpty()
    else timer = setTimeout(answerEmpty, waitMs)
    return await pendingAnswer
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', answerEmpty)
    answerEmpty()
  }
}

/** Answers the workers the transaction concerns. Runs assigned to a worker that is gone are released. */
function answerWorkers(actor: OrgActor, waiters: ReadonlySet<WaitingRequest>, assigned: readonly Assignment[]): void {
  const byWorker = new Map<string, Assignment[]>()
  for (const one of assigned) {
    const known = byWorker.get(one.workerId)
    if (known === undefined) byWorker.set(one.workerId, [one])
    else known.push(one)
  }
  const org = actor.loaded()
  for (const { worker, finish } of [...waiters]) {
    const attempts = byWorker.get(worker.workerId) ?? []
    byWorker.delete(worker.workerId)
    const cancel = org === null ? [] : cancelsFor(org, worker)
    if (attempts.length > 0 || cancel.length > 0) finish({ attempts: attempts.map(toDispatch), cancel })
  }
  const left = [...byWorker.values()].flat().map(({ run, attemptId }) => ({ runId: run.id, attemptId }))
  // If this fails, the runs are released when they have not been started in time.
  if (left.length > 0) actor.execute(releaseCommand(actor.orgId, left)).catch(() => undefined)
}

const toDispatch = (assignment: Assignment): WorkerUpdates['attempts'][number] => {
  const attempt = attemptOf(assignment)
  return { agent_id: attempt.agentId, ...dispatchOf(attempt, null), traceparent: traceparentOf(attempt) }
}

/** The attempts of a worker that it should stop: cancelled ones, and ones it no longer holds. */
function cancelsFor(org: LoadedOrg, { workerId, holding }: WaitingWorker): WorkerUpdates['cancel'] {
  if (holding.length === 0) return []
  const held = new Map<AttemptId | null, WorkerRun>()
  for (const run of org.byNode.get(workerId) ?? []) held.set(run.attemptId, run)
  return holding.flatMap((id) => {
    const run = held.get(attemptId(id))
    const holderState = run === undefined ? null : { ...run, reason: run.why?.reason ?? null }
    const { cancel, reason } = holderStatus(holderState, attemptId(id))
    return cancel ? [{ attempt_id: id, reason: reason ?? 'cancelled' }] : []
  })
}
