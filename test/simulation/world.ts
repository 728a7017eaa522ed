import type { AgentId, AttemptId, LaneName, OrgId, RunId } from '../../src/domain/ids.ts'
import type { Instant } from '../../src/domain/instant.ts'
import type { ReportDecision } from '../../src/domain/run/reports.ts'
import { isTerminal, type RunState } from '../../src/domain/run/run-machine.ts'
import type { MessageContent } from '../../src/domain/session/debounce.ts'
import type { NodeLanes } from '../../src/features/lanes/node-lanes.ts'
import type { EngineSettings } from '../../src/features/config/settings.ts'
import type { LoadedOrg, NodeCapabilities, MemoryWindow } from '../../src/engine/org-state/memory.ts'
import type { BacklogRun } from '../../src/engine/org-state/backlog-store.ts'
import type { RunRow } from '../../src/features/runs/store.ts'
import type { ScheduleRow } from '../../src/features/schedules/store.ts'
import type { SessionRow } from '../../src/features/sessions/store.ts'
import type { Random } from './random.ts'

/**
 * Some nodes and some orgs in memory. Everything that decides is the product's: here is only what happens to it from
 * outside, and an observer that is told of every step.
 */
export interface World {
  readonly random: Random
  readonly observer: Observer
  readonly settings: Settings
  readonly nodes: readonly Node[]
  readonly orgs: readonly Org[]
  /** Every run, ended ones too, until retention takes them. */
  readonly runs: Map<RunId, RunRow>
  /** What was last told of each of them. */
  readonly told: Map<RunId, Told>
  readonly executions: Map<AttemptId, Execution>
  now: Instant
  readonly counters: { run: number; attempt: number; submission: number }
}

export interface Settings {
  readonly engine: EngineSettings
  /** How many runs of a line and of a session are in memory. */
  readonly window: MemoryWindow
  /** Work takes up to so many times six seconds, and may take up to so many times eight. */
  readonly pace: number
}

export interface Node {
  readonly name: string
  /** As they were asked for; `lanes` is what the product makes of it. */
  readonly sizes: Map<LaneName, number>
  readonly lanes: NodeLanes
  /** Null while it lives; otherwise when it was last heard of. */
  diedAt: Instant | null
  draining: boolean
  /** Slots have come free for which another org waits. */
  hasFreed: boolean
}

export interface Org {
  readonly id: OrgId
  readonly maxConcurrent: number | null
  readonly agents: readonly Agent[]
  readonly memory: LoadedOrg
  /** What a node is to the org that takes a transaction. Null: one that takes on no work. */
  readonly facts: (node: Node | null) => NodeCapabilities
  /** What is not in memory, in place of the table. */
  readonly backlog: Map<RunId, BacklogRun>
  transactions: number
}

export interface Agent {
  readonly id: AgentId
  readonly maxConcurrent: number | null
  online: boolean
}

export interface Told {
  readonly state: RunState
  readonly held: boolean
}

/** A process really at work, whatever the rows say about it. */
export interface Execution {
  readonly org: Org
  readonly run: RunRow
  readonly runId: RunId
  readonly attemptId: AttemptId
  readonly node: Node
  /** Gives the slot of the lane back. Null: it has been. */
  release: (() => void) | null
  wasAskedToStop: boolean
  /** Infinite when it has nothing more to say. */
  reportsAt: number
  report: 'succeed' | 'fail' | 'refuse' | 'accept' | 'stop' | 'nothing'
}

/** What one pass over a schedule decided. */
export interface Firing {
  readonly after: Instant
  readonly upTo: Instant
  /** The occurrences with a row of their own, in the order they were decided. */
  readonly nominals: readonly Instant[]
  /** The occurrences that one record stands for. */
  readonly ranged: number
  /** The rows. */
  readonly made: readonly RunRow[]
}

/** Something that was handed in. */
export interface Submitted {
  readonly number: number
  readonly accepted: boolean
  /** When it was sent, by its own word or by ours. */
  readonly stamp: Instant
  /** The run that it made, or joined. */
  readonly run: RunRow | null
}

/** Whatever happens in the world is told here, as it happens. */
export interface Observer {
  readonly submitted: (world: World, submitted: Submitted) => void
  readonly created: (world: World, run: RunRow) => void
  readonly fired: (schedule: ScheduleRow, firing: Firing) => void
  /** The policies have decided about a held occurrence. */
  readonly released: (world: World, run: RunRow) => void
  readonly moved: (world: World, run: RunRow, from: Told) => void
  readonly started: (world: World, run: RunRow, node: Node) => void
  /** An execution has reported; `isCurrent`: its attempt was the one in flight. */
  readonly reported: (execution: Execution, isCurrent: boolean, decision: ReportDecision | null) => void
  /** Everything in the session was told to end. */
  readonly cleared: (session: SessionRow) => void
  /** Retention takes the row: nobody will ask about it any more. */
  readonly forgotten: (run: RunRow) => void
  /** After every event, when everything that follows from it is done. */
  readonly settledDown: (world: World) => void
  /** Traffic has ended and time has passed: nothing may be left. */
  readonly finished: (world: World) => void
}

export function pendingOf(org: Org, wanted: (run: RunRow) => boolean): readonly RunRow[] {
  const found: RunRow[] = []
  for (const run of org.memory.state.runs.values()) if (!isTerminal(run.state) && wanted(run)) found.push(run)
  for (const { run } of org.backlog.values()) if (wanted(run)) found.push(run)
  return found
}

export const everyPending = (world: World, wanted: (run: RunRow) => boolean): readonly RunRow[] =>
  world.orgs.flatMap((org) => pendingOf(org, wanted))

export function orgOf(world: World, id: OrgId): Org {
  const org = world.orgs.find((one) => one.id === id)
  if (org === undefined) throw new Error(`there is no org ${id}`)
  return org
}

export const sessionOf = (world: World, run: RunRow): SessionRow | null =>
  run.sessionKey === null ? null : (orgOf(world, run.orgId).memory.state.sessions.get(run.sessionKey) ?? null)

export const scheduleOf = (world: World, run: RunRow): ScheduleRow | null =>
  run.scheduleId === null ? null : (orgOf(world, run.orgId).memory.state.schedules.get(run.scheduleId) ?? null)

/** Whether it is held, by its row alone. */
export const isHeldRow = (run: RunRow): boolean => run.state === 'waiting' && run.decision.reason === 'held'

/** Pending runs of a schedule, without those that were superseded or are held. */
export const pendingOfSchedule = (org: Org, { id }: ScheduleRow): readonly RunRow[] =>
  [...(org.memory.state.bySchedule.get(id) ?? [])].filter(
    (run) => !isTerminal(run.state) && !run.superseded && !isHeldRow(run),
  )

/** The submissions that a run answers for: everything that was handed in has the number of its submission in it. */
export const submissionsOf = ({ trigger, payload }: RunRow): readonly number[] =>
  trigger === 'message' || trigger === 'task' ? (payload as MessageContent).messageIds.map(Number) : []

export const isAlive = (node: Node): boolean => node.diedAt === null

/** Whether anything is known to hang on the node. */
export const holdsSomething = (world: World, { name }: Node): boolean =>
  world.orgs.some(({ memory }) => memory.byNode.has(name))
