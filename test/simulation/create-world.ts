import {
  attemptId,
  runId,
  type AgentId,
  type LaneName,
  type OrgId,
  type ScheduleId,
  type SessionKey,
} from '../../src/domain/ids.ts'
import type { Instant } from '../../src/domain/instant.ts'
import { statusAfter } from '../../src/domain/schedule/lifecycle.ts'
import type { ScheduleRules } from '../../src/domain/schedule/rules.ts'
import type { SessionRules } from '../../src/domain/session/session.ts'
import type { Timing } from '../../src/domain/time/timing.ts'
import { createNodeLanes } from '../../src/features/lanes/node-lanes.ts'
import { DEFAULT_SETTINGS } from '../../src/features/config/settings.ts'
import {
  applyCapabilities,
  emptyLoadedOrg,
  setOrgLimit,
  type NodeCapabilities,
  type MemoryWindow,
} from '../../src/engine/org-state/memory.ts'
import type { ScheduleRow } from '../../src/features/schedules/store.ts'
import type { Node, Observer, Org, Settings, World } from './world.ts'
import { takeFromBacklog } from './backlog.ts'
import type { Random } from './random.ts'

export interface PlannedAgent {
  readonly id: AgentId
  readonly maxConcurrent: number | null
  readonly timeoutSeconds: number
}

export interface PlannedSchedule {
  readonly id: ScheduleId
  readonly agentId: AgentId
  readonly sessionKey: SessionKey | null
  readonly timing: Timing
  readonly rules: ScheduleRules
}

export interface PlannedOrg {
  readonly id: OrgId
  readonly maxConcurrent: number | null
  readonly agents: readonly PlannedAgent[]
  readonly sessions: readonly { readonly key: SessionKey; readonly own: Partial<SessionRules> }[]
  readonly schedules: readonly PlannedSchedule[]
}

/** A deployment as it stands when its world begins. */
export interface Plan {
  readonly random: Random
  readonly start: Instant
  readonly catchupMaxActive: number
  readonly pace: number
  readonly window: MemoryWindow
  readonly nodes: readonly { readonly name: string; readonly sizes: Map<LaneName, number> }[]
  readonly orgs: readonly PlannedOrg[]
}

const settingsOf = ({ catchupMaxActive, pace, window }: Plan): Settings => ({
  window,
  engine: {
    ...DEFAULT_SETTINGS,
    tasks: { ...DEFAULT_SETTINGS.tasks, maxQueue: 8, maxPerAgent: 5, maxInflight: 4, maxPerAgentInflight: 2 },
    schedules: { ...DEFAULT_SETTINGS.schedules, catchupMaxActive },
  },
  pace,
})

export function createWorld(plan: Plan, observer: Observer): World {
  const orgs: Org[] = []
  const world: World = {
    ...{ random: plan.random, observer, settings: settingsOf(plan), orgs },
    nodes: plan.nodes.map(({ name, sizes }) => createNode(name, sizes)),
    ...{ runs: new Map(), told: new Map(), executions: new Map() },
    now: plan.start,
    counters: { run: 0, attempt: 0, submission: 0 },
  }
  for (const planned of plan.orgs) orgs.push(createOrg(world, planned))
  return world
}

function createNode(name: string, sizes: Map<LaneName, number>): Node {
  const onFree = (): void => void (node.hasFreed = true)
  const node: Node = {
    ...{ name, sizes, lanes: createNodeLanes(sizes, onFree), diedAt: null, draining: false, hasFreed: false },
  }
  return node
}

/** What the nodes of the world are alike in, and how many catch-up runs this one works on. Null: none takes one on. */
function factsOf(world: World, agents: Org['agents'], node: Node | null): NodeCapabilities {
  const { random, counters, settings } = world
  const names = new Set(world.nodes[0]?.sizes.keys())
  return {
    randomSource: {
      random: () => random.next(),
      newRunId: () => runId(`run_${String((counters.run += 1)).padStart(9, '0')}`),
      newAttemptId: () => attemptId(`att_${(counters.attempt += 1)}`),
    },
    settings: () => settings.engine,
    canExecute: (key) => agents.some(({ id, online }) => online && id === key),
    laneNames: () => names,
    estimate: null,
    window: () => settings.window,
    catchups: () => node?.lanes.catchups() ?? Infinity,
  }
}

function createOrg(world: World, { id, maxConcurrent, agents: planned, sessions, schedules }: PlannedOrg): Org {
  const agents = planned.map((agent) => ({ ...agent, online: true }))
  const facts = new Map([null, ...world.nodes].map((node) => [node, factsOf(world, agents, node)]))
  const idle = factsOf(world, agents, null)
  const memory = emptyLoadedOrg(id, idle)
  const { state: desk, readyQueue: lineUp } = memory
  desk.now = world.now
  for (const agent of agents) {
    const provider = null
    desk.agents.set(agent.id, {
      ...agent,
      executorKey: agent.id,
      executorKind: 'in-process',
      retryPolicy: null,
      provider,
    })
    lineUp.setAgent(agent.id, agent)
  }
  for (const { key, own } of sessions)
    desk.sessions.set(key, {
      orgId: id,
      key,
      own,
      cutoff: null,
      generation: 0,
      context: null,
      behind: 0,
      behindFrom: 0,
      createdAt: world.now,
    })
  for (const schedule of schedules) desk.schedules.set(schedule.id, rowOf(world, id, schedule))
  setOrgLimit(memory, maxConcurrent)
  applyCapabilities(memory, idle)
  const backlog: Org['backlog'] = new Map()
  memory.readBacklog = (request) => takeFromBacklog(memory, backlog, request)
  return { id, maxConcurrent, agents, memory, backlog, facts: (node) => facts.get(node) ?? idle, transactions: 0 }
}

function rowOf({ now }: World, orgId: OrgId, schedule: PlannedSchedule): ScheduleRow {
  const { timing, rules } = schedule
  return {
    ...schedule,
    orgId,
    ...{ createdBy: null, owner: null, createdByRun: null, lineage: null, approval: null },
    ...{ name: schedule.id, description: '', input: {}, payload: null, deleteAfterRun: false },
    ...{ retryPolicy: null, timeoutSeconds: null, lane: null, pace: null, watermark: now },
    ...statusAfter({ timing, maxFires: rules.maxFires, fires: 0 }, now),
    ...{ failureStreak: 0, failureCount: 0, skippedFor: null, fires: 0, previousRunId: null, lastEnding: null },
    ...{ lastRunAt: null, lastReleaseAt: null, lastStatus: null, lastError: null, alerts: null },
    ...{ version: 1, createdAt: now, updatedAt: now },
  }
}
