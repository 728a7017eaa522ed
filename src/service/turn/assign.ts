import { workerKeyOf } from '../../core/executor/worker-agent.ts'
import { type AgentId, type AttemptId, laneName, type LaneName, type RunId } from '../../domain/ids.ts'
import { type Instant, later } from '../../domain/instant.ts'
import { addAll } from '../../domain/long-lists.ts'
import { attemptEndsBy } from '../../domain/run/timeouts.ts'
import { PICKED } from '../../core/usual-why.ts'
import type { RunRow } from '../../store/run-row.ts'
import { judgeStart } from '../desk/alerts.ts'
import type { Desk } from '../desk/desk.ts'
import { move } from '../desk/runs.ts'
import { release } from '../desk/settle.ts'
import type { Work } from '../turn-port.ts'
import { type Memory, noteRun } from './memory.ts'
import { firstToStart } from './startable.ts'
import { type Allowance, WITHOUT_LIMIT } from './turn-limits.ts'

/** What a worker that waits for work would take. */
export interface WorkerOffer {
  readonly workerId: string
  readonly agents: readonly AgentId[]
  /** Attempts it takes at a time; what it holds is counted from the runs, wherever it was handed out. */
  readonly capacity: number
  /** How long it has to begin what it takes. */
  readonly beginMs: number
}

/** A run that a worker now holds. */
export interface Assignment {
  readonly workerId: string
  readonly run: RunRow
  readonly attemptId: AttemptId
  /** What it was given to do; on the desk it is not kept. */
  readonly payload: unknown
}

/** No lane and no node limits what workers take: each has said how much it takes at a time. */
const NO_LIMIT = { inFlight: 0, limit: null }

/** Hands runs to workers in the order of picking, one each in turn, until nobody has room or nothing is left. */
export function assignRuns(
  memory: Memory,
  offers: readonly WorkerOffer[],
  allowance = WITHOUT_LIMIT,
): readonly Assignment[] {
  const assigned: Assignment[] = []
  let open = offers.map((offer) => ({ offer, lanes: offer.agents.map((id) => laneName(workerKeyOf(id))) }))
  while (open.length > 0)
    open = open.filter(({ offer, lanes }) => {
      const run = heldBy(memory, offer.workerId) < offer.capacity ? nextOf(memory, lanes, allowance) : null
      if (run !== null) assigned.push(assign(memory, run, offer))
      return run !== null
    })
  return assigned
}

const heldBy = (memory: Memory, workerId: string): number => memory.byNode.get(workerId)?.size ?? 0

/** The next run of one of these lines. Whichever was served goes to the end, so that no agent of a worker starves. */
function nextOf(memory: Memory, lanes: LaneName[], allowance: Allowance): RunRow | null {
  const { desk } = memory
  for (const [index, name] of lanes.entries()) {
    const at = { now: desk.now, lane: { name, size: 1, held: 0 }, catchup: NO_LIMIT }
    const run = firstToStart(memory, at, allowance)
    if (run === undefined) continue
    addAll(lanes, lanes.splice(index, 1))
    return run
  }
  return null
}

function assign(memory: Memory, run: RunRow, offer: WorkerOffer): Assignment {
  const { desk } = memory
  if (!move(desk, run, { event: 'assign', why: PICKED })) throw new Error(`run ${run.id} is ${run.state}, not queued`)
  const { workerId } = offer
  const id = desk.chance.newAttemptId(desk.now)
  run.attemptId = id
  run.nodeId = workerId
  run.startedAt = null
  run.endsBy = later(desk.now, offer.beginMs)
  run.errorCode = null
  run.errorMessage = null
  run.reported = null
  noteRun(memory, run)
  desk.changes.assignments.push({ orgId: desk.orgId, id, runId: run.id, workerId, assignedAt: desk.now })
  return { workerId, run, attemptId: id, payload: run.payload }
}

/** The worker has begun: from now on its time counts. */
export function beginAssigned(desk: Desk, run: RunRow): void {
  if (!move(desk, run, { event: 'start', why: PICKED })) return
  run.startedAt = desk.now
  run.endsBy = endOf(desk, run)
  if (run.nominal !== null) judgeStart(desk, run)
}

const endOf = ({ now, maxTimeoutSeconds }: Desk, { trigger, deadline, timeoutSeconds }: RunRow): Instant =>
  attemptEndsBy(now, { trigger, deadline, timeoutSeconds, executor: 'worker', maxTimeoutSeconds })

/** Gives back what was assigned to a worker that went away before it could be told. Whatever has begun stays. */
export const releaseWork = (
  orgId: Desk['orgId'],
  attempts: readonly { readonly runId: RunId; readonly attemptId: AttemptId }[],
): Work<void> => ({
  orgId,
  apply: (desk) => {
    for (const { runId, attemptId } of attempts) {
      const run = desk.runs.get(runId)
      if (run?.attemptId === attemptId && run.state === 'assigned') release(desk, run, 'worker.gone')
    }
  },
})
