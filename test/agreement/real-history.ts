import type { BudgetInput } from '../../src/features/budgets/schema.ts'
import { Refusal } from '../../src/api/refusals.ts'
import { agentId, orgId, sessionKey, type OrgId } from '../../src/domain/ids.ts'
import { instant, type Instant } from '../../src/domain/instant.ts'
import { firePass, watchPass } from '../../src/engine/loops/loops.ts'
import { createBudget } from '../../src/features/budgets/service.ts'
import { declareAllLost } from '../../src/features/nodes/membership.ts'
import { runScheduleNow } from '../../src/features/runs/service.ts'
import { createSchedule, disableSchedule, enableSchedule } from '../../src/features/schedules/service.ts'
import { parseSimulationTask } from '../../src/features/simulation/read-task.ts'
import {
  offlineAt,
  type SimulatedBudget,
  type SimulationPlan,
  type SimulationTask,
} from '../../src/features/simulation/task.ts'
import { insertAgents, type AgentRow } from '../../src/features/agents/store.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { insertOrg } from '../../src/features/access/orgs-store.ts'
import { createQuiet, type Quiet } from '../faults/quiet.ts'
import { createRandom } from '../simulation/random.ts'
import { createHandDatabase } from './hand-database.ts'
import { startNode, type RealNode, type RealWorld } from './real-node.ts'

/** A history while it happens. */
interface Happening {
  readonly task: SimulationTask
  readonly plan: SimulationPlan
  readonly world: RealWorld
  readonly quiet: Quiet
  /** Null: no node works. */
  node: RealNode | null
  nextFire: Instant | null
  isStalled: boolean
}

/** How a history is lived through. */
interface Living {
  /** The name of its org. */
  readonly name: string
  /** Whether the org is also woken when nothing has happened, as other orgs of a node do. It must make no difference. */
  readonly wakesInVain: boolean
}

/** The share of moments after which such an org is woken. */
const VAIN_SHARE = 0.3

/**
 * Lets a history happen for real: services, engine passes and PostgreSQL, with nothing put in their place but the clock,
 * the ids and the executors. Answers with the org in which it happened.
 */
export async function live(real: Database, task: SimulationTask, { name, wakesInVain }: Living): Promise<OrgId> {
  const happening = await begin(real, task, orgId(name))
  const random = createRandom(task.seed + 104_729)
  const { world, plan } = happening
  const appointments = appointmentsOf(plan)
  let kept = 0
  for (;;) {
    const appointment = appointments[kept]
    const next = Math.min(appointment?.at ?? Infinity, nextOf(happening))
    if (next >= plan.window.to) break
    if (next > world.now) world.now = instant(next)
    if (appointment !== undefined && appointment.at <= world.now) {
      kept += 1
      await appointment.keep(happening)
    } else passMoment(happening)
    await happening.quiet.settled()
    if (!wakesInVain || !random.chance(VAIN_SHARE)) continue
    happening.node?.parts.actorOf(world.orgId).wake()
    await happening.quiet.settled()
  }
  return world.orgId
}

async function begin(real: Database, task: SimulationTask, org: OrgId): Promise<Happening> {
  // Reading is the simulator's; every schedule is read again by the service that makes it.
  const plan = parseSimulationTask(task)
  const quiet = createQuiet()
  const world: RealWorld = {
    orgId: org,
    seed: task.seed,
    database: createHandDatabase(real, { quiet, now: () => world.now }),
    ...{ settings: plan.settings, planAttempt: plan.planAttempt, agents: task.agents.map(({ id }) => id) },
    ...{ nextIds: new Map(), bornAt: new Map(), now: plan.window.from, ids: 0, nodes: 0 },
  }
  await insertAll(real, task, { org, now: world.now })
  const node = await startNode(world)
  const happening: Happening = {
    ...{ task, plan, world, quiet, node, nextFire: world.now, isStalled: false },
  }
  const caller = { orgId: org, principal: null }
  for (const { id, input } of task.schedules) {
    world.nextIds.set('schedule', id)
    await createSchedule(node.ports, caller, input)
  }
  for (const budget of task.budgets ?? []) {
    world.nextIds.set('budget', budget.id)
    await createBudget(node.ports, { ...caller, writesBudgets: true }, budgetOf(budget))
  }
  await quiet.settled()
  return happening
}

async function insertAll(
  real: Database,
  task: SimulationTask,
  { org, now }: { readonly org: OrgId; readonly now: Instant },
): Promise<void> {
  const agents = task.agents.map((agent): AgentRow => ({
    ...{ orgId: org, id: agentId(agent.id), name: agent.id, description: '', executor: { kind: agent.executor_kind } },
    ...{ contextWindow: null, version: 1, createdAt: now, updatedAt: now, provider: null, selfService: null },
    retryPolicy: agent.retry_policy ?? null,
    timeoutSeconds: agent.timeout_seconds ?? null,
    maxConcurrent: agent.max_concurrent ?? null,
    defaultSession: typeof agent.default_session === 'string' ? sessionKey(agent.default_session) : null,
  }))
  await real.transaction(async (tx) => {
    await insertOrg(tx, {
      ...{
        id: org,
        name: org,
        defaultTimezone: task.timezone,
        maxSchedules: null,
        maxTimeoutSeconds: null,
        createdAt: now,
      },
      defaultAgentId: typeof task.default_agent_id === 'string' ? agentId(task.default_agent_id) : null,
      maxConcurrent: task.org?.max_concurrent ?? null,
      runsPerDay: task.org?.runs_per_day ?? null,
    })
    await insertAgents(tx, agents)
  })
}

const budgetOf = ({ agent_id, schedule_id, default_reserve, ...budget }: SimulatedBudget): BudgetInput => ({
  ...{ unit: budget.unit, amount: budget.amount, period: budget.period, timezone: budget.timezone },
  on_exceed: budget.on_exceed,
  ...(typeof agent_id === 'string' ? { agent_id } : {}),
  ...(typeof schedule_id === 'string' ? { schedule_id } : {}),
  ...(default_reserve === undefined ? {} : { default_reserve }),
})

/** When the node does something by itself. */
function nextOf({ node, nextFire, isStalled }: Happening): number {
  if (node === null) return Infinity
  const next = Math.min(node.nextEnd() ?? Infinity, node.nextCall()?.at ?? Infinity)
  return isStalled ? next : Math.min(next, nextFire ?? Infinity)
}

/** The races that a moment may hold are run in one order: what ends, what becomes due by itself, what fires. */
function passMoment(happening: Happening): void {
  const { node, world } = happening
  if (node === null) return
  if ((node.nextEnd() ?? Infinity) <= world.now) {
    node.endDue()
    // What a run found may bring the next moment nearer: nodes hear of that, and look again.
    if (happening.plan.schedules.some(({ pace }) => pace !== null)) happening.nextFire = world.now
    return
  }
  const call = node.nextCall()
  if (call !== null && call.at <= world.now) call.happen()
  else void fire(happening, node)
}

async function fire(happening: Happening, { parts }: RealNode): Promise<void> {
  happening.nextFire = null
  await firePass(parts)
  // When what was due is decided, the loop looks again.
  for (const office of parts.actors.values()) await office.idle()
  const waitMs = await firePass(parts)
  happening.nextFire = waitMs === undefined ? null : instant(happening.world.now + Math.max(0, waitMs))
}

interface Appointment {
  readonly at: Instant
  readonly rank: number
  readonly keep: (happening: Happening) => Promise<void> | void
}

function appointmentsOf(plan: SimulationPlan): readonly Appointment[] {
  const found: Appointment[] = []
  for (const { from, to } of plan.engineOutages)
    found.push({ at: from, rank: 1, keep: goDown }, { at: to, rank: 0, keep: comeBack })
  for (const { from, to } of plan.stalls) {
    found.push({ at: from, rank: 1, keep: (happening) => void (happening.isStalled = true) })
    found.push({ at: to, rank: 0, keep: (happening) => void (happening.isStalled = false) })
  }
  for (const { from, to, effect } of plan.agentOutages) {
    if (effect !== 'offline') continue
    found.push({ at: from, rank: 1, keep: switchAgents }, { at: to, rank: 0, keep: switchAgents })
  }
  for (const { at, action, scheduleId } of plan.interventions)
    found.push({ at, rank: 2, keep: (happening) => intervene(happening, action, scheduleId) })
  return found.sort((a, b) => a.at - b.at || a.rank - b.rank)
}

function goDown(happening: Happening): void {
  happening.node = null
}

/** Another process comes, alone, as the embedded server's does: what was before it is lost. */
async function comeBack(happening: Happening): Promise<void> {
  const { world, quiet } = happening
  await declareAllLost(world.database)
  const node = await startNode(world)
  connectAll(node, happening.plan, world.now)
  happening.node = node
  happening.nextFire = world.now
  node.parts.actorOf(world.orgId).wake()
  await quiet.settled()
  void watchPass(node.parts, () => Promise.resolve({ sizes: world.settings.lanes.byName, hasManyOrgs: false }))
}

function switchAgents({ node, world, plan }: Happening): void {
  if (node === null) return
  connectAll(node, plan, world.now)
  node.parts.actorOf(world.orgId).refresh()
}

function connectAll(node: RealNode, plan: SimulationPlan, now: Instant): void {
  const offline = offlineAt(plan, now)
  for (const { id } of plan.agents) (offline.has(id) ? node.disconnect : node.connect)(id)
}

function intervene(happening: Happening, action: string, id: string): void {
  const { node, world } = happening
  if (node === null) return
  const caller = { orgId: world.orgId, principal: null }
  const act = { run_now: runNow, enable: enableSchedule, disable: disableSchedule }[action] ?? runNow
  // Refused when the schedule is full, or has deleted itself.
  act(node.ports, caller, { id }).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error
  })
  happening.nextFire = world.now
}

const runNow: typeof enableSchedule = async (ports, caller, { id }) => {
  await runScheduleNow(ports, caller, { id, mode: 'force' })
  return undefined as never
}
