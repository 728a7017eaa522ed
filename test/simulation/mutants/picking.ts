import type { ReadyQueue } from '../../../src/domain/queue/ready-queue.ts'
import type { QueuedRun } from '../../../src/domain/queue/queued-run.ts'
import { isInFlight, isRetrying } from '../../../src/domain/run/run.ts'
import type { LoadedOrg } from '../../../src/engine/org-state/memory.ts'
import { mutant, type Mistakes, type Mutant } from './mutant.ts'

/** A line-up that is told something else than what is. */
const lineUpWith = (change: (lineUp: ReadyQueue) => Partial<ReadyQueue>): Mistakes => ({
  createReadyQueue: (right) => (orgId) => {
    const lineUp = right(orgId)
    return { ...lineUp, ...change(lineUp) }
  },
})

const runsWith = (change: (run: QueuedRun) => Partial<QueuedRun>): Mistakes =>
  lineUpWith((lineUp) => ({
    put: (run) => {
      lineUp.put({ ...run, ...change(run) })
    },
  }))

/** Mistakes in picking. */
export const PICKING_MUTANTS: readonly Mutant[] = [
  mutant(
    'sessions go newest first',
    'session_order',
    runsWith(({ seq }) => ({ seq: seq === null ? null : -seq })),
  ),
  mutant(
    'sessions have no order at all',
    'session_order',
    runsWith((run) => ({ sessionKey: isRetrying(run) ? run.sessionKey : null })),
  ),
  mutant(
    'a session may have one run more',
    'limits',
    lineUpWith((lineUp) => ({
      setSession: (key, limits) => {
        lineUp.setSession(key, { ...limits, maxConcurrent: limits.maxConcurrent + 1 })
      },
    })),
  ),
  mutant(
    'a full context does not slow a session down',
    'limits',
    lineUpWith((lineUp) => ({
      setSession: (key, limits) => {
        lineUp.setSession(key, { ...limits, context: null })
      },
    })),
  ),
  mutant('a lane has one slot more than it has', 'limits', {
    claimRuns: (right) => (memory, offer, allowance) => {
      const lanes = [...offer.lanes].map(([name, { size, held }]) => [name, { size: size + 1, held }] as const)
      return right(memory, { ...offer, lanes: new Map(lanes) }, allowance)
    },
  }),
  mutant(
    'the limit of an agent is forgotten',
    'limits',
    lineUpWith((lineUp) => ({
      setAgent: (id, limits) => {
        lineUp.setAgent(id, { ...limits, maxConcurrent: null })
      },
    })),
  ),
  mutant(
    'the limit of an org is forgotten',
    'limits',
    lineUpWith((lineUp) => ({
      setLimits: (limits) => {
        lineUp.setLimits({ ...limits, maxConcurrent: null })
      },
    })),
  ),
  mutant(
    'tasks in flight are not counted',
    'limits',
    runsWith(({ trigger, state }) => ({ trigger: trigger === 'task' && isInFlight(state) ? 'message' : trigger })),
  ),
  mutant('a restart is a stampede', 'limits', {
    createNodeLanes: (right) => (sizes, onFree) => {
      const lanes = right(sizes, onFree)
      return { ...lanes, catchups: () => 0, offer: (asked) => lanes.offer({ ...asked, catchupLimit: Infinity }) }
    },
  }),
  mutant(
    'a parked run starts without a slot',
    'limits',
    runsWith(({ slot }) => ({ slot: slot === 'parked' ? 'held' : slot })),
  ),
  mutant(
    'an interrupting message does not wait for the stop',
    'stopped_stays_stopped',
    runsWith(() => ({ interrupts: false })),
  ),
  mutant('only one run is picked, however many slots are free', 'nothing_stuck', {
    claimRuns: (right) => {
      const pickedAt = new WeakMap<LoadedOrg, number>()
      return (memory, offer, allowance) => {
        if (pickedAt.get(memory) === memory.state.now) return []
        pickedAt.set(memory, memory.state.now)
        const [lane] = offer.lanes
        const lanes = lane === undefined ? [] : [[lane[0], { ...lane[1], size: lane[1].held + 1 }] as const]
        return right(memory, { ...offer, lanes: new Map(lanes) }, allowance)
      }
    },
  }),
]
