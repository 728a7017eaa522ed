import { PICKED } from '../../domain/run/run.ts'
import type { ExecutorKind } from '../../executors/kinds.ts'
import type { AttemptId, LaneName } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { PickContext } from '../../domain/queue/fairness.ts'
import { attemptEndsBy } from '../../domain/run/timeouts.ts'
import type { RunRow } from '../../features/runs/store.ts'
import { checkStart } from '../commands/alerts.ts'
import { type RunProbe, probeOf } from '../commands/probes.ts'
import { agentInState, applyEvent } from '../commands/runs.ts'
import type { WorkerOffer } from '../commands/assign.ts'
import { DEFAULT_WINDOW, loadAtOnce, type Loads } from '../org-state/backlog.ts'
import { type LoadedOrg, reindexRun } from '../org-state/memory.ts'
import { firstToStart, loadFirst, type StartOptions } from './startable.ts'
import { type Allowance, WITHOUT_LIMIT } from './limits.ts'

/** The free slots a node offers to an org in this transaction. */
export interface SlotOffer {
  readonly nodeId: string
  /** Slots of each lane; `held` includes those claimed by this transaction. */
  readonly lanes: ReadonlyMap<LaneName, { readonly size: number; held: number }>
  /** Catch-up runs on this node, including those claimed by this transaction. */
  readonly catchup: { inFlight: number; readonly limit: number }
  /** Workers that wait at this node for runs of the org; left out, or null: none. */
  readonly workers?: readonly WorkerOffer[] | null
}

/** A run that this node now holds, and the lane slot it takes. */
export interface Claim {
  readonly run: RunRow
  readonly lane: LaneName
  readonly attemptId: AttemptId
  /** The payload, which the org state does not keep. */
  readonly payload: unknown
  /** The probe to run before the executor; null for nearly every run. */
  readonly probe: RunProbe | null
}

/**
 * Maximum number of claims per transaction. The node executes them while the server writes the next transaction, so
 * that both work at the same time.
 */
const MAX_CLAIMS = 512

/** Whether there may be more runs to start at once. */
export const isCapped = (claims: readonly Claim[]): boolean => claims.length >= MAX_CLAIMS

/** Starts runs of an org whose backlog, if it has one, can be read at once. */
export const claimRuns = (org: LoadedOrg, offer: SlotOffer, allowance = WITHOUT_LIMIT): readonly Claim[] =>
  loadAtOnce(org, startReadyRuns(org, offer, { allowance, window: DEFAULT_WINDOW }))

/** Starts as many runs as the node has slots for, in the order of picking; lanes take turns. */
export function* startReadyRuns(
  org: LoadedOrg,
  offer: SlotOffer,
  { allowance, window }: StartOptions,
): Loads<readonly Claim[]> {
  const claims: Claim[] = []
  const { now } = org.state
  const open = [...offer.lanes].map(([name, lane]) => {
    const at: LanePick = { now, lane: { name, size: lane.size, held: lane.held }, catchup: offer.catchup }
    return { lane, at }
  })
  while (open.length > 0 && claims.length < MAX_CLAIMS) {
    for (let index = 0; index < open.length; index += 1) {
      const asking = open[index]
      let run = asking === undefined ? undefined : nextRun(org, asking.at, allowance)
      const short = run === undefined ? org.readyQueue.shortage() : null
      if (short !== null && asking !== undefined) run = yield* loadFirst(org, asking.at, { allowance, window, short })
      if (asking === undefined || run === undefined) {
        open.splice(index, 1)
        index -= 1
        continue
      }
      const { name } = asking.at.lane
      const attemptId = startClaimedRun(org, run, offer.nodeId)
      claims.push({ run, lane: name, attemptId, payload: run.payload, probe: probeOf(org.state, run) })
      asking.lane.held += 1
      asking.at.lane.held += 1
      if (run.trigger === 'catchup') offer.catchup.inFlight += 1
    }
  }
  return claims
}

/** Arguments of the ready queue: one object per lane, updated as slots are taken, because every pick needs it. */
interface LanePick extends PickContext {
  readonly lane: { readonly name: LaneName; readonly size: number; held: number }
}

function nextRun(org: LoadedOrg, at: LanePick, allowance: Allowance): RunRow | undefined {
  const { size, held } = at.lane
  return held >= size ? undefined : firstToStart(org, at, allowance)
}

function startClaimedRun(org: LoadedOrg, run: RunRow, nodeId: string): AttemptId {
  const { state } = org
  if (!applyEvent(state, run, { event: 'claim', why: PICKED }))
    throw new Error(`run ${run.id} is ${run.state}, not queued`)
  const attemptId = state.randomSource.newAttemptId(state.now)
  run.attemptId = attemptId
  run.nodeId = nodeId
  run.startedAt = state.now
  run.endsBy = endsBy(org, run, state.now)
  run.errorCode = null
  run.errorMessage = null
  run.reported = null
  if (run.nominal !== null) checkStart(state, run)
  reindexRun(org, run)
  return attemptId
}

function endsBy(org: LoadedOrg, run: RunRow, now: Instant): Instant {
  const { trigger, deadline, timeoutSeconds } = run
  const { maxTimeoutSeconds } = org.state
  const executor = agentInState(org.state, run.agentId).executorKind as ExecutorKind
  return attemptEndsBy(now, { trigger, deadline, timeoutSeconds, executor, maxTimeoutSeconds })
}
