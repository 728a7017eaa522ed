import type { ExecutorKind } from '../../executors/kinds.ts'
import type { AttemptId, LaneName } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { PickingMoment } from '../../core/picking/line-up-next.ts'
import { attemptEndsBy } from '../../domain/run/timeouts.ts'
import { PICKED } from '../../core/usual-why.ts'
import type { RunRow } from '../../store/run-row.ts'
import { judgeStart } from '../desk/alerts.ts'
import { type CarriedProbe, probeOf } from '../../engine/commands/probes.ts'
import { agentOn, move } from '../desk/runs.ts'
import type { WorkerOffer } from './assign.ts'
import { type Memory, noteRun } from './memory.ts'
import { firstToStart } from './startable.ts'
import { type Allowance, WITHOUT_LIMIT } from './turn-limits.ts'

/** What a node has free for an org in this turn. */
export interface Offer {
  readonly nodeId: string
  /** Slots of each lane; `held` includes what this turn has taken. */
  readonly lanes: ReadonlyMap<LaneName, { readonly size: number; held: number }>
  /** Catch-up runs on this node; grows with what this turn takes. */
  readonly catchup: { inFlight: number; readonly limit: number }
  /** Workers that wait here for work of the org; left out, or null: none do. */
  readonly workers?: readonly WorkerOffer[] | null
}

/** A run that this node now holds, and the lane slot it takes. */
export interface Claim {
  readonly run: RunRow
  readonly lane: LaneName
  readonly attemptId: AttemptId
  /** What it was given to do; on the desk it is not kept. */
  readonly payload: unknown
  /** What is asked before anybody is woken; null for nearly every run. */
  readonly probe: CarriedProbe | null
}

/**
 * More are not started in one turn: while the next turn is written, the node can already work on these, so that node and
 * server work at the same time instead of in turns.
 */
const MOST_PER_TURN = 512

/** Whether there may be more to start at once. */
export const isCapped = (claims: readonly Claim[]): boolean => claims.length >= MOST_PER_TURN

/** Starts as many runs as the node has slots for, in the order of picking; lanes take turns. */
export function claimRuns(memory: Memory, offer: Offer, allowance = WITHOUT_LIMIT): readonly Claim[] {
  const claims: Claim[] = []
  const { now } = memory.desk
  const open = [...offer.lanes].map(([name, lane]) => {
    const at: Moment = { now, lane: { name, size: lane.size, held: lane.held }, catchup: offer.catchup }
    return { lane, at }
  })
  while (open.length > 0 && claims.length < MOST_PER_TURN) {
    for (let index = 0; index < open.length; index += 1) {
      const asking = open[index]
      const run = asking === undefined ? undefined : nextRun(memory, asking.at, allowance)
      if (asking === undefined || run === undefined) {
        open.splice(index, 1)
        index -= 1
        continue
      }
      const { name } = asking.at.lane
      const attemptId = start(memory, run, offer.nodeId)
      claims.push({ run, lane: name, attemptId, payload: run.payload, probe: probeOf(memory.desk, run) })
      asking.lane.held += 1
      asking.at.lane.held += 1
      if (run.trigger === 'catchup') offer.catchup.inFlight += 1
    }
  }
  return claims
}

/** What the line-up is asked with: one per lane, changed as slots are taken, because it is asked for every run. */
interface Moment extends PickingMoment {
  readonly lane: { readonly name: LaneName; readonly size: number; held: number }
}

function nextRun(memory: Memory, at: Moment, allowance: Allowance): RunRow | undefined {
  const { size, held } = at.lane
  return held >= size ? undefined : firstToStart(memory, at, allowance)
}

function start(memory: Memory, run: RunRow, nodeId: string): AttemptId {
  const { desk } = memory
  if (!move(desk, run, { event: 'claim', why: PICKED })) throw new Error(`run ${run.id} is ${run.state}, not queued`)
  const attemptId = desk.chance.newAttemptId(desk.now)
  run.attemptId = attemptId
  run.nodeId = nodeId
  run.startedAt = desk.now
  run.endsBy = endsBy(memory, run, desk.now)
  run.errorCode = null
  run.errorMessage = null
  run.reported = null
  if (run.nominal !== null) judgeStart(desk, run)
  noteRun(memory, run)
  return attemptId
}

function endsBy(memory: Memory, run: RunRow, now: Instant): Instant {
  const { trigger, deadline, timeoutSeconds } = run
  const { maxTimeoutSeconds } = memory.desk
  const executor = agentOn(memory.desk, run.agentId).executorKind as ExecutorKind
  return attemptEndsBy(now, { trigger, deadline, timeoutSeconds, executor, maxTimeoutSeconds })
}
