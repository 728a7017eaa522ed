import { hasRoom, untilWord } from '../budget/budget.ts'
import type { BudgetId, LaneName, RunId } from '../ids.ts'
import { formatInstant, type Instant } from '../instant.ts'
import { keptSlots, maxOrgSlots, orgRoom } from '../../core/org-share.ts'
import { because, type Why } from '../reasons.ts'
import type { RunFacts } from '../run/run.ts'
import { type ContextUse, isThrottled, sessionLimit } from '../session/session.ts'
import { isProviderClosed, providerWhy, type ProviderStanding } from '../../core/picking/provider-gate.ts'

/**
 * The gates between `queued` and `running`, in order: not-before → session order and limit → schedule slot → agent limit
 * → org limit → budget → provider → executor → lane slot. The picker walks them for every run it wants to start; `explain` walks
 * the same list to say why one has not.
 */
export interface Candidate extends Pick<
  RunFacts,
  'id' | 'orgId' | 'agentId' | 'sessionKey' | 'trigger' | 'lane' | 'priority' | 'createdAt' | 'seq' | 'notBefore'
> {
  /** It has executed before and holds its session and schedule slots through the wait. */
  readonly retrying: boolean
  /** It waits for a slot of its schedule, of which there are this many. Null: it has one, or needs none. */
  readonly parkedBehind: number | null
  /** It interrupted its session and must not overlap what it interrupted. */
  readonly interrupts: boolean
  /** Somebody who can execute its agent is there. */
  readonly executable: boolean
  /** What it sets aside in each budget that queues. */
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
  /** The run whose turn it is. Null when nobody waits. */
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
  /** When it has room again at the latest. Null: when a person lets it go on. */
  readonly until: Instant | null
}

export interface LaneLoad {
  /** The lane that serves the run, which is `main` when nobody has created the one it names. */
  readonly name: LaneName
  readonly size: number
  readonly held: number
  /** What the org holds of it, and the part it may hold. The picker leaves it out: it is offered what the org may take. */
  readonly org?: { readonly held: number; readonly share: number }
}

/** Everything the gates look at for one run. */
export interface Standing {
  readonly now: Instant
  readonly session: SessionLoad | null
  readonly agent: Load
  readonly agentTasks: Load
  readonly org: Load
  readonly orgTasks: Load
  readonly budgets: ReadonlyMap<BudgetId, BudgetLoad>
  /** What the run's agent calls; null: nothing with quotas. */
  readonly provider: ProviderStanding | null
  readonly catchup: Load
  readonly lane: LaneLoad
}

/** Whom a closed gate holds up for the rest of the turn: only this run, or all of its agent, provider, org or lane. */
export type Holds = 'run' | 'agent' | 'provider' | 'org' | 'lane'

/** The gates by name. */
export type GateName =
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

interface Gate {
  readonly name: GateName
  readonly holds: Holds
  readonly isClosed: (run: Candidate, at: Standing) => boolean
  readonly why: (run: Candidate, at: Standing) => Why
}

/**
 * A run that waits for a slot of its schedule has no place in its session yet; it gets one with the slot. Otherwise it
 * could stand in front of the very run whose slot it waits for, and both would wait for ever.
 */
export const hasPlace = (run: Pick<Candidate, 'parkedBehind'>): boolean => run.parkedBehind === null

const isFull = (load: Load): boolean => load.limit !== null && load.inFlight >= load.limit

const loadWhy = (load: Load): { readonly in_flight: number; readonly limit: number } => ({
  in_flight: load.inFlight,
  limit: load.limit ?? 0,
})

const GATES: readonly Gate[] = [
  {
    name: 'not_before',
    holds: 'run',
    isClosed: (run, at) => run.notBefore !== null && run.notBefore > at.now,
    why: (run, at) => because('not_before', 'gate:not_before', { not_before: formatInstant(run.notBefore ?? at.now) }),
  },
  {
    name: 'interruption',
    holds: 'run',
    isClosed: (run, at) => run.interrupts && at.session !== null && at.session.stopping > 0,
    why: (_, at) => because('awaiting_stop', 'session.mode=interrupt', { stopping: at.session?.stopping ?? 0 }),
  },
  {
    name: 'session_order',
    holds: 'run',
    isClosed: (run, at) =>
      hasPlace(run) && at.session !== null && at.session.head !== null && at.session.head !== run.id,
    why: (run, at) => because('session_order', 'gate:session_order', { ahead: at.session?.head ?? run.id }),
  },
  {
    name: 'session_limit',
    holds: 'run',
    // A retrying run is one of the active ones already: it needs no second slot.
    isClosed: (run, at) =>
      hasPlace(run) &&
      !run.retrying &&
      at.session !== null &&
      at.session.active >= sessionLimit(at.session.maxConcurrent, at.session.context),
    why: (_, at) => sessionLimitWhy(at.session),
  },
  {
    name: 'schedule_slot',
    holds: 'run',
    isClosed: (run) => run.parkedBehind !== null,
    why: (run) => because('schedule_limit', 'concurrency_policy=QUEUE', { max_concurrency: run.parkedBehind ?? 0 }),
  },
  {
    name: 'agent_limit',
    holds: 'agent',
    isClosed: (_, at) => isFull(at.agent),
    why: (run, at) => because('agent_limit', 'agent.max_concurrent', { ...loadWhy(at.agent), agent: run.agentId }),
  },
  {
    name: 'agent_tasks',
    holds: 'run',
    isClosed: (run, at) => run.trigger === 'task' && isFull(at.agentTasks),
    why: (run, at) =>
      because('agent_limit', 'tasks.max_per_agent_inflight', { ...loadWhy(at.agentTasks), agent: run.agentId }),
  },
  {
    name: 'org_limit',
    holds: 'org',
    isClosed: (_, at) => isFull(at.org),
    why: (_, at) => because('org_limit', 'org.max_concurrent', loadWhy(at.org)),
  },
  {
    name: 'org_tasks',
    holds: 'run',
    isClosed: (run, at) => run.trigger === 'task' && isFull(at.orgTasks),
    why: (_, at) => because('org_limit', 'tasks.max_inflight', loadWhy(at.orgTasks)),
  },
  {
    name: 'budget',
    holds: 'run',
    isClosed: (run, at) => run.reserves.length > 0 && shortBudget(run, at) !== undefined,
    why: (run, at) => budgetWhy(run, at),
  },
  {
    name: 'provider',
    holds: 'provider',
    isClosed: (_, at) => at.provider !== null && isProviderClosed(at.provider, at.now),
    why: (_, at) => providerWhy(at.provider, at.now),
  },
  {
    name: 'executor',
    holds: 'run',
    isClosed: (run) => !run.executable,
    why: (run) => because('executor_offline', 'gate:executor', { agent: run.agentId }),
  },
  {
    name: 'catchup',
    holds: 'run',
    isClosed: (run, at) => run.trigger === 'catchup' && isFull(at.catchup),
    why: (_, at) =>
      because('catchup_limit', 'schedules.catchup_max_active', {
        active: at.catchup.inFlight,
        limit: at.catchup.limit ?? 0,
      }),
  },
  {
    name: 'lane',
    holds: 'lane',
    isClosed: (_, at) => at.lane.held >= at.lane.size || isShareTaken(at.lane),
    why: (_, at) => laneWhy(at.lane),
  },
]

/** The gates in the order in which they are asked. */
export const GATE_NAMES: readonly GateName[] = GATES.map(({ name }) => name)

/**
 * Where a run stands: which gate is closed to it and why; no gate, when all are open and others go first. Before a run
 * that workers perform stand their hands instead of a lane.
 */
export interface Wait extends Why {
  readonly gate: GateName | 'worker' | null
}

/** Whom the first closed gate holds up, or null when the run may start. */
export function closedGate(run: Candidate, at: Standing): Holds | null {
  for (const gate of GATES) if (gate.isClosed(run, at)) return gate.holds
  return null
}

/** Why the run has not started: the first closed gate, or that others go first. */
export function explainWait(run: Candidate, at: Standing, position: number): Wait {
  const closed = GATES.find((gate) => gate.isClosed(run, at))
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

/** Whether no free slot is for this org. */
const isShareTaken = ({ size, held, org }: LaneLoad): boolean =>
  org !== undefined && orgRoom({ size, free: size - held, held: org.held }, org.share) === 0

function laneWhy({ name, size, held, org }: LaneLoad): Why {
  if (held >= size || org === undefined) return because('lane_full', 'gate:lane', { lane: name, size })
  const [limit, kept] = [maxOrgSlots(size, org.share), keptSlots(size, org.share)]
  return because('org_share', 'lanes.max_org_share', { lane: name, size, held: org.held, limit, kept })
}

const shortBudget = (run: Candidate, at: Standing): Reserve | undefined =>
  run.reserves.find((reserve) => {
    const budget = at.budgets.get(reserve.budgetId)
    return budget !== undefined && !hasRoom(budget.remaining, reserve.amount)
  })

function budgetWhy(run: Candidate, at: Standing): Why {
  const short = shortBudget(run, at)
  const budget = short === undefined ? undefined : at.budgets.get(short.budgetId)
  return because('budget', 'gate:budget', {
    budget: short?.budgetId ?? '',
    reserve: short?.amount ?? 0,
    remaining: budget?.remaining ?? 0,
    unit: budget?.unit ?? '',
    until: untilWord(budget?.until ?? null),
  })
}
