import { PICKED } from '../../domain/run/run.ts'
import { workerKeyOf } from '../../domain/agent.ts'
import { type AgentId, type AttemptId, laneName, type LaneName, type RunId } from '../../domain/ids.ts'
import { type Instant, later } from '../../domain/instant.ts'
import { addAll } from '../../domain/long-lists.ts'
import { attemptEndsBy } from '../../domain/run/timeouts.ts'
import type { RunRow } from '../../features/runs/store.ts'
import { checkStart } from './alerts.ts'
import type { OrgState } from '../org-state/org-state.ts'
import { applyEvent } from './runs.ts'
import { releaseAssigned } from './settle.ts'
import type { Command } from '../commands-port.ts'
import { type LoadedOrg, reindexRun } from '../org-state/memory.ts'
import { DEFAULT_WINDOW, loadAtOnce, type Loads } from '../org-state/backlog.ts'
import { firstToStart, loadFirst, type StartOptions } from '../transaction/startable.ts'
import { WITHOUT_LIMIT } from '../transaction/limits.ts'

/** A worker that waits for runs, with its limits. */
export interface WorkerOffer {
  readonly workerId: string
  readonly agents: readonly AgentId[]
  /**
   * Maximum number of attempts at a time; the ones it holds are counted from the runs, whichever node assigned them.
   */
  readonly capacity: number
  /** How long it has to start an assigned run. */
  readonly beginMs: number
}

/** A run that a worker now holds. */
export interface Assignment {
  readonly workerId: string
  readonly run: RunRow
  readonly attemptId: AttemptId
  /** The payload, which the org state does not keep. */
  readonly payload: unknown
}

/** Workers are limited by their own capacity, not by lanes or nodes. */
const NO_CATCHUP_LIMIT = { inFlight: 0, limit: null }

/** Assigns runs of an org whose backlog, if it has one, can be read at once. */
export const assignRuns = (
  org: LoadedOrg,
  offers: readonly WorkerOffer[],
  allowance = WITHOUT_LIMIT,
): readonly Assignment[] => loadAtOnce(org, assignReadyRuns(org, offers, { allowance, window: DEFAULT_WINDOW }))

/**
 * Assigns runs to workers in the order of picking, one per worker in turn, until no worker has room or no run is left.
 */
export function* assignReadyRuns(
  org: LoadedOrg,
  offers: readonly WorkerOffer[],
  options: StartOptions,
): Loads<readonly Assignment[]> {
  const assigned: Assignment[] = []
  let open = offers.map((offer) => ({ offer, lanes: offer.agents.map((id) => laneName(workerKeyOf(id))) }))
  while (open.length > 0) {
    const left: typeof open = []
    for (const asking of open) {
      const { offer, lanes } = asking
      const run = heldCount(org, offer.workerId) < offer.capacity ? yield* nextRunIn(org, lanes, options) : null
      if (run === null) continue
      assigned.push(assign(org, run, offer))
      left.push(asking)
    }
    open = left
  }
  return assigned
}

const heldCount = (org: LoadedOrg, workerId: string): number => org.byNode.get(workerId)?.size ?? 0

/**
 * The next run of one of these lanes. The lane that was served moves to the end, so that no agent of a worker starves.
 */
function* nextRunIn(org: LoadedOrg, lanes: LaneName[], options: StartOptions): Loads<RunRow | null> {
  const { state } = org
  for (const [index, name] of lanes.entries()) {
    const at = { now: state.now, lane: { name, size: 1, held: 0 }, catchup: NO_CATCHUP_LIMIT }
    let run = firstToStart(org, at, options.allowance)
    const short = run === undefined ? org.readyQueue.shortage() : null
    if (short !== null) run = yield* loadFirst(org, at, { ...options, short })
    if (run === undefined) continue
    addAll(lanes, lanes.splice(index, 1))
    return run
  }
  return null
}

function assign(org: LoadedOrg, run: RunRow, offer: WorkerOffer): Assignment {
  const { state } = org
  if (!applyEvent(state, run, { event: 'assign', why: PICKED }))
    throw new Error(`run ${run.id} is ${run.state}, not queued`)
  const { workerId } = offer
  const id = state.randomSource.newAttemptId(state.now)
  run.attemptId = id
  run.nodeId = workerId
  run.startedAt = null
  run.endsBy = later(state.now, offer.beginMs)
  run.errorCode = null
  run.errorMessage = null
  run.reported = null
  reindexRun(org, run)
  state.changes.assignments.push({ orgId: state.orgId, id, runId: run.id, workerId, assignedAt: state.now })
  return { workerId, run, attemptId: id, payload: run.payload }
}

/** The worker has started the run: its timeout counts from now on. */
export function startAssigned(state: OrgState, run: RunRow): void {
  if (!applyEvent(state, run, { event: 'start', why: PICKED })) return
  run.startedAt = state.now
  run.endsBy = assignedEndsBy(state, run)
  if (run.nominal !== null) checkStart(state, run)
}

const assignedEndsBy = ({ now, maxTimeoutSeconds }: OrgState, { trigger, deadline, timeoutSeconds }: RunRow): Instant =>
  attemptEndsBy(now, { trigger, deadline, timeoutSeconds, executor: 'worker', maxTimeoutSeconds })

/** Releases runs assigned to a worker that was gone before it could be answered. Runs that have started are kept. */
export const releaseCommand = (
  orgId: OrgState['orgId'],
  attempts: readonly { readonly runId: RunId; readonly attemptId: AttemptId }[],
): Command<void> => ({
  orgId,
  apply: (state) => {
    for (const { runId, attemptId } of attempts) {
      const run = state.runs.get(runId)
      if (run?.attemptId === attemptId && run.state === 'assigned') releaseAssigned(state, run, 'worker.gone')
    }
  },
})
