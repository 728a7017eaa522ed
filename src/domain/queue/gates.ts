import { hasRoom, budgetUntilText } from '../budget/budget.ts'
import type { QuotaCause } from '../budget/quota.ts'
import type { BudgetId, LaneName, ProviderName, RunId } from '../ids.ts'
import { formatInstant, type Instant } from '../instant.ts'
import { reservedSlots, maxOrgSlots, orgRoom } from './lanes.ts'
import { because, type Why } from '../reasons.ts'
import type { RunFacts } from '../run/run.ts'
import { type ContextUse, isThrottled, sessionLimit } from '../session/session.ts'

/**
 * The capacity of a provider. The code that counts its requests updates this object while runs start, and picking
 * only reads it, so that a transaction that starts many runs never starts one too many.
 */
export interface ProviderLoad {
  readonly name: ProviderName
  /** No run starts before this; null or past: no quota blocks it. */
  readonly until: Instant | null
  /** The quota that blocks it until then. */
  readonly quota: QuotaCause
  /** The maximum number of its runs in flight; null: no limit. */
  readonly limit: number | null
}

/** A provider with its runs. */
export interface ProviderStatus {
  readonly load: ProviderLoad
  readonly inFlight: number
  /** All queued runs that call it. */
  readonly waiting: number
}

/** Whether the provider has its maximum number of runs in flight. */
export const isProviderFull = ({ load, inFlight }: Pick<ProviderStatus, 'load' | 'inFlight'>): boolean =>
  load.limit !== null && inFlight >= load.limit

/** Whether runs that call the provider may not start now. */
export const isProviderClosed = (provider: Pick<ProviderStatus, 'load' | 'inFlight'>, now: Instant): boolean =>
  (provider.load.until !== null && provider.load.until > now) || isProviderFull(provider)

/** Why a run that calls a closed provider waits; `behind` counts the other waiting runs. */
function providerWhy(status: ProviderStatus | null, now: Instant): Why {
  const { name: provider = '', quota = '', until = null, limit = null } = status?.load ?? {}
  const inFlight = status?.inFlight ?? 0
  const behind = Math.max(0, (status?.waiting ?? 0) - 1)
  return until !== null && until > now
    ? because('provider_quota', 'gate:provider', { provider, quota, until: formatInstant(until), behind })
    : because('provider_limit', 'provider.max_concurrent', { provider, in_flight: inFlight, limit: limit ?? 0, behind })
}

/**
 * A queued run as the gates see it. The gates between `queued` and `running`, in order: not-before → session order
 * and limit → schedule slot → agent limit → org limit → budget → provider → executor → lane slot. Picking checks them
 * for every run it wants to start; `explain` uses the same list to say why a run has not started.
 */
export interface GateCandidate extends Pick<
  RunFacts,
  'id' | 'orgId' | 'agentId' | 'sessionKey' | 'trigger' | 'lane' | 'priority' | 'createdAt' | 'seq' | 'notBefore'
> {
  /** It has executed before and keeps its session and schedule slots while it waits. */
  readonly retrying: boolean
  /** The number of slots of its schedule while it waits for one; null when it has one or needs none. */
  readonly parkedBehind: number | null
  /** It interrupted its session and must not overlap the runs it interrupted. */
  readonly interrupts: boolean
  /** Whether a node or worker that can execute its agent is available. */
  readonly executable: boolean
  /** Its reserve in each budget with action `queue`. */
  readonly reserves: readonly Reserve[]
}

export interface Reserve {
  readonly budgetId: BudgetId
  readonly amount: number
}

export interface SessionLoad {
  readonly active: number
  readonly stopping: number
  readonly maxConcurrent: number
  readonly context: ContextUse | null
  /** The next run of the session; null when none waits. */
  readonly head: RunId | null
}

/** Runs in flight against a limit. Null: no limit. */
export interface Load {
  readonly inFlight: number
  readonly limit: number | null
}

export interface BudgetLoad {
  readonly remaining: number
  readonly unit: string
  /** The latest time when it has room again; null when it is paused until resumed. */
  readonly until: Instant | null
}

export interface LaneLoad {
  /** The lane that serves the run: `main` when the lane it names does not exist. */
  readonly name: LaneName
  readonly size: number
  readonly held: number
  /**
   * The slots the org holds and its maximum share. Omitted when picking, where the caller already limited the free
   * slots.
   */
  readonly org?: { readonly held: number; readonly share: number }
}

/** The input of the gates for one run. */
export interface GateFacts {
  readonly now: Instant
  readonly session: SessionLoad | null
  readonly agent: Load
  readonly agentTasks: Load
  readonly org: Load
  readonly orgTasks: Load
  readonly budgets: ReadonlyMap<BudgetId, BudgetLoad>
  /** The provider that the agent calls; null: none with quotas. */
  readonly provider: ProviderStatus | null
  readonly catchup: Load
  readonly lane: LaneLoad
}

/**
 * What a closed gate blocks for the rest of the transaction: only this run, or all of its agent, provider, org or
 * lane.
 */
type BlockedScope = 'run' | 'agent' | 'provider' | 'org' | 'lane'

type GateName =
  | (
      | 'not_before'
      | 'interruption'
      | 'session_order'
      | 'session_limit'
      | 'schedule_slot'
      | 'agent_limit'
      | 'agent_tasks'
    )
  | ('org_limit' | 'org_tasks' | 'budget' | 'provider' | 'executor' | 'catchup' | 'lane')

interface QueueGate {
  readonly name: GateName
  readonly blocks: BlockedScope
  readonly isClosed: (run: GateCandidate, at: GateFacts) => boolean
  readonly why: (run: GateCandidate, at: GateFacts) => Why
}

/**
 * A run that waits for a slot of its schedule has no position in its session yet; it gets one with the slot.
 * Otherwise it could be ahead of the run whose slot it waits for, and both would wait forever.
 */
const hasPosition = (run: Pick<GateCandidate, 'parkedBehind'>): boolean => run.parkedBehind === null

const isFull = (load: Load): boolean => load.limit !== null && load.inFlight >= load.limit

const loadWhy = (load: Load): { readonly in_flight: number; readonly limit: number } => ({
  in_flight: load.inFlight,
  limit: load.limit ?? 0,
})

const QUEUE_GATES: readonly QueueGate[] = [
  {
    name: 'not_before',
    blocks: 'run',
    isClosed: (run, at) => run.notBefore !== null && run.notBefore > at.now,
    why: (run, at) => because('not_before', 'gate:not_before', { not_before: formatInstant(run.notBefore ?? at.now) }),
  },
  {
    name: 'interruption',
    blocks: 'run',
    isClosed: (run, at) => run.interrupts && at.session !== null && at.session.stopping > 0,
    why: (_, at) => because('awaiting_stop', 'session.mode=interrupt', { stopping: at.session?.stopping ?? 0 }),
  },
  {
    name: 'session_order',
    blocks: 'run',
    isClosed: (run, at) =>
      hasPosition(run) && at.session !== null && at.session.head !== null && at.session.head !== run.id,
    why: (run, at) => because('session_order', 'gate:session_order', { ahead: at.session?.head ?? run.id }),
  },
  {
    name: 'session_limit',
    blocks: 'run',
    // A retrying run already counts as active and needs no second slot.
    isClosed: (run, at) =>
      hasPosition(run) &&
      !run.retrying &&
      at.session !== null &&
      at.session.active >= sessionLimit(at.session.maxConcurrent, at.session.context),
    why: (_, at) => sessionLimitWhy(at.session),
  },
  {
    name: 'schedule_slot',
    blocks: 'run',
    isClosed: (run) => run.parkedBehind !== null,
    why: (run) => because('schedule_limit', 'concurrency_policy=QUEUE', { max_concurrency: run.parkedBehind ?? 0 }),
  },
  {
    name: 'agent_limit',
    blocks: 'agent',
    isClosed: (_, at) => isFull(at.agent),
    why: (run, at) => because('agent_limit', 'agent.max_concurrent', { ...loadWhy(at.agent), agent: run.agentId }),
  },
  {
    name: 'agent_tasks',
    blocks: 'run',
    isClosed: (run, at) => run.trigger === 'task' && isFull(at.agentTasks),
    why: (run, at) =>
      because('agent_limit', 'tasks.max_per_agent_inflight', { ...loadWhy(at.agentTasks), agent: run.agentId }),
  },
  {
    name: 'org_limit',
    blocks: 'org',
    isClosed: (_, at) => isFull(at.org),
    why: (_, at) => because('org_limit', 'org.max_concurrent', loadWhy(at.org)),
  },
  {
    name: 'org_tasks',
    blocks: 'run',
    isClosed: (run, at) => run.trigger === 'task' && isFull(at.orgTasks),
    why: (_, at) => because('org_limit', 'tasks.max_inflight', loadWhy(at.orgTasks)),
  },
  {
    name: 'budget',
    blocks: 'run',
    isClosed: (run, at) => run.reserves.length > 0 && shortBudget(run, at) !== undefined,
    why: (run, at) => budgetWhy(run, at),
  },
  {
    name: 'provider',
    blocks: 'provider',
    isClosed: (_, at) => at.provider !== null && isProviderClosed(at.provider, at.now),
    why: (_, at) => providerWhy(at.provider, at.now),
  },
  {
    name: 'executor',
    blocks: 'run',
    isClosed: (run) => !run.executable,
    why: (run) => because('executor_offline', 'gate:executor', { agent: run.agentId }),
  },
  {
    name: 'catchup',
    blocks: 'run',
    isClosed: (run, at) => run.trigger === 'catchup' && isFull(at.catchup),
    why: (_, at) =>
      because('catchup_limit', 'schedules.catchup_max_active', {
        active: at.catchup.inFlight,
        limit: at.catchup.limit ?? 0,
      }),
  },
  {
    name: 'lane',
    blocks: 'lane',
    isClosed: (_, at) => at.lane.held >= at.lane.size || isOrgShareUsed(at.lane),
    why: (_, at) => laneWhy(at.lane),
  },
]

/** The gates in the order in which they are checked. */
export const GATE_NAMES: readonly GateName[] = QUEUE_GATES.map(({ name }) => name)

/**
 * Why a run waits: the first closed gate, or none when all are open and other runs go first. For runs of workers the
 * gate `worker` replaces the lane.
 */
export interface Wait extends Why {
  readonly gate: GateName | 'worker' | null
}

/** What the first closed gate blocks; null when the run may start. */
export function closedGate(run: GateCandidate, at: GateFacts): BlockedScope | null {
  for (const gate of QUEUE_GATES) if (gate.isClosed(run, at)) return gate.blocks
  return null
}

/** Why the run has not started: the first closed gate, or its position in the queue. */
export function explainWait(run: GateCandidate, at: GateFacts, position: number | string): Wait {
  const closed = QUEUE_GATES.find((gate) => gate.isClosed(run, at))
  return closed === undefined
    ? { ...because('in_line', 'picking_order', { position }), gate: null }
    : { ...closed.why(run, at), gate: closed.name }
}

function sessionLimitWhy(session: SessionLoad | null): Why {
  const active = session?.active ?? 0
  const context = session?.context ?? null
  return context !== null && isThrottled(context)
    ? because('context_throttle', 'session.throttle', {
        active,
        tokens: context.tokens,
        context_window: context.contextWindow,
      })
    : because('session_limit', 'session.max_concurrent', { active, limit: session?.maxConcurrent ?? 0 })
}

/** Whether the org may not take any of the free slots. */
const isOrgShareUsed = ({ size, held, org }: LaneLoad): boolean =>
  org !== undefined && orgRoom({ size, free: size - held, held: org.held }, org.share) === 0

function laneWhy({ name, size, held, org }: LaneLoad): Why {
  if (held >= size || org === undefined) return because('lane_full', 'gate:lane', { lane: name, size })
  const [limit, reserved] = [maxOrgSlots(size, org.share), reservedSlots(size, org.share)]
  return because('org_share', 'lanes.max_org_share', { lane: name, size, held: org.held, limit, kept: reserved })
}

const shortBudget = (run: GateCandidate, at: GateFacts): Reserve | undefined =>
  run.reserves.find((reserve) => {
    const budget = at.budgets.get(reserve.budgetId)
    return budget !== undefined && !hasRoom(budget.remaining, reserve.amount)
  })

function budgetWhy(run: GateCandidate, at: GateFacts): Why {
  const short = shortBudget(run, at)
  const budget = short === undefined ? undefined : at.budgets.get(short.budgetId)
  return because('budget', 'gate:budget', {
    budget: short?.budgetId ?? '',
    reserve: short?.amount ?? 0,
    remaining: budget?.remaining ?? 0,
    unit: budget?.unit ?? '',
    until: budgetUntilText(budget?.until ?? null),
  })
}
