import { attemptId, type AgentId, type AttemptId, type OrgId } from '../domain/ids.ts'
import { standingOfHolder } from '../domain/run/reports.ts'
import { dispatchOf } from '../executors/dispatch.ts'
import { traceparentOf } from '../executors/traceparent.ts'
import { releaseWork, type Assignment, type WorkerOffer } from '../service/turn/assign.ts'
import type { Memory } from '../service/turn/memory.ts'
import type { WaitingWorker, WorkerNews } from '../features/workers/port.ts'
import type { SeenWorker } from '../features/workers/service.ts'
import { attemptOf } from './executions.ts'
import type { Office } from './office-context.ts'

/**
 * Workers that wait here. A worker's question is held open until a turn of its org has something for it: whatever makes
 * a run ready also takes a turn, on this node or on one that tells it, so nobody has to look again and again.
 */
export interface Workers {
  readonly wait: (worker: WaitingWorker) => Promise<WorkerNews>
  /** What those who wait for work of the org would take; null: nobody does. */
  readonly offers: (orgId: OrgId) => readonly WorkerOffer[] | null
  /** A turn was kept: those who wait are told what concerns them. */
  readonly settled: (office: Office, assigned: readonly Assignment[]) => void
  /** Those who wait are alive. */
  readonly waiting: () => readonly string[]
  /** Takes in who is alive in the deployment. */
  readonly see: (alive: readonly SeenWorker[]) => void
  /** The workers that are connected anywhere for the agent and take work. */
  readonly serving: (orgId: OrgId, agentId: AgentId) => readonly Pick<SeenWorker, 'id' | 'capacity'>[]
  /** The node goes down: nobody waits here any more. */
  readonly dismiss: () => void
}

export interface WorkersContext {
  readonly officeOf: (orgId: OrgId) => Office
  /** How long a worker has to begin what it was given. */
  readonly beginMs: () => number
}

type Held = Assignment['run']

interface Waiter {
  readonly worker: WaitingWorker
  readonly offer: WorkerOffer
  readonly finish: (news: WorkerNews) => void
}

const NO_NEWS: WorkerNews = { attempts: [], cancel: [] }

export function createWorkers(ctx: WorkersContext): Workers {
  const waiting = new Map<OrgId, Set<Waiter>>()
  let seen: readonly SeenWorker[] = []
  const all = (): readonly Waiter[] => [...waiting.values()].flatMap((waiters) => [...waiters])
  return {
    wait: (worker) => {
      const beginMs = ctx.beginMs()
      const { workerId, agents, capacity } = worker
      return waitFor(ctx, waiting, { worker, offer: { workerId, agents, capacity, beginMs } })
    },
    offers: (orgId) => {
      const waiters = waiting.get(orgId)
      if (waiters === undefined) return null
      return [...waiters].filter(({ worker }) => !worker.draining).map(({ offer }) => offer)
    },
    settled: (office, assigned) => {
      const waiters = waiting.get(office.orgId)
      if (waiters === undefined && assigned.length === 0) return
      tell(office, waiters ?? new Set(), assigned)
    },
    waiting: () => all().map(({ worker }) => worker.workerId),
    see: (alive) => {
      seen = alive
    },
    serving: (orgId, agentId) => {
      const here = [...(waiting.get(orgId) ?? [])].map(({ worker }) => ({ ...worker, id: worker.workerId }))
      const known = new Set(here.map(({ id }) => id))
      const elsewhere = seen.filter((worker) => worker.orgId === orgId && !known.has(worker.id))
      return [...here, ...elsewhere].filter(({ draining, agents }) => !draining && agents.includes(agentId))
    },
    dismiss: () => {
      for (const { finish } of all()) finish(NO_NEWS)
    },
  }
}

async function waitFor(
  ctx: WorkersContext,
  waiting: Map<OrgId, Set<Waiter>>,
  { worker, offer }: Omit<Waiter, 'finish'>,
): Promise<WorkerNews> {
  const { orgId, signal, waitMs } = worker
  if (signal.aborted) return NO_NEWS
  const waiters = waiting.get(orgId) ?? new Set()
  waiting.set(orgId, waiters)
  let finish: Waiter['finish'] = () => undefined
  const news = new Promise<WorkerNews>((resolve) => {
    finish = (told) => {
      waiters.delete(waiter)
      if (waiters.size === 0 && waiting.get(orgId) === waiters) waiting.delete(orgId)
      resolve(told)
    }
  })
  const waiter: Waiter = { worker, offer, finish }
  waiters.add(waiter)
  const give = (): void => {
    finish(NO_NEWS)
  }
  signal.addEventListener('abort', give, { once: true })
  let timer: NodeJS.Timeout | undefined
  try {
    // A turn of its own: what waits already is handed out in it, and with no time to wait that is all.
    await ctx.officeOf(orgId).take({ orgId, apply: () => undefined })
    if (waitMs <= 0) give()
    else timer = setTimeout(give, waitMs)
    return await news
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', give)
    give()
  }
}

/** Tells those who wait what the turn has for them. What nobody is there for any more is given back. */
function tell(office: Office, waiters: ReadonlySet<Waiter>, assigned: readonly Assignment[]): void {
  const byWorker = new Map<string, Assignment[]>()
  for (const one of assigned) {
    const known = byWorker.get(one.workerId)
    if (known === undefined) byWorker.set(one.workerId, [one])
    else known.push(one)
  }
  const memory = office.memory()
  for (const { worker, finish } of [...waiters]) {
    const attempts = byWorker.get(worker.workerId) ?? []
    byWorker.delete(worker.workerId)
    const cancel = memory === null ? [] : cancelsFor(memory, worker)
    if (attempts.length > 0 || cancel.length > 0) finish({ attempts: attempts.map(handedOut), cancel })
  }
  const left = [...byWorker.values()].flat().map(({ run, attemptId }) => ({ runId: run.id, attemptId }))
  // What cannot be given back now is given back when nobody has begun it in time.
  if (left.length > 0) office.take(releaseWork(office.orgId, left)).catch(() => undefined)
}

const handedOut = (assignment: Assignment): WorkerNews['attempts'][number] => {
  const attempt = attemptOf(assignment)
  return { agent_id: attempt.agentId, ...dispatchOf(attempt, null), traceparent: traceparentOf(attempt) }
}

/** Those of what a worker works on that it should stop: asked to, or not its own any more. */
function cancelsFor(memory: Memory, { workerId, holding }: WaitingWorker): WorkerNews['cancel'] {
  if (holding.length === 0) return []
  const held = new Map<AttemptId | null, Held>()
  for (const run of memory.byNode.get(workerId) ?? []) held.set(run.attemptId, run)
  return holding.flatMap((id) => {
    const run = held.get(attemptId(id))
    const standing = run === undefined ? null : { ...run, reason: run.why?.reason ?? null }
    const { cancel, reason } = standingOfHolder(standing, attemptId(id))
    return cancel ? [{ attempt_id: id, reason: reason ?? 'cancelled' }] : []
  })
}
