import { invalid } from '../../api/refusals.ts'
import { inlineKindOf } from '../../domain/agent.ts'
import { AS_CODE_KINDS, type AsCodeKind, unambiguousNames } from '../../domain/as-code/compare.ts'
import type { Flaw } from '../../domain/input.ts'
import { byText, type JsonFields } from '../../domain/json.ts'
import { nearestWord } from '../../domain/nearest-word.ts'
import { deliveryOfSchedule } from '../../engine/commands/announce.ts'
import { idTimeOf } from '../../engine/ids.ts'
import { ECHO } from '../access/first-start.ts'
import { deleteAgentCommand } from '../agents/service.ts'
import type { AgentExecutor, AgentRow } from '../agents/store.ts'
import { budgetKey, budgetName, exportedAgent, exportedBudget, exportedSchedule, exportedTarget } from './fields.ts'
import type { RequestedObjects } from './plan.ts'
import type { AsCodeDocument } from './schema.ts'
import { calledOf, type StoredObjects } from './stored.ts'
import type { PlanContext, CommandFactory } from './wanted.ts'
import { deleteBudgetCommand } from '../budgets/service.ts'
import type { ScheduleAgent } from '../schedules/input.ts'
import { deleteScheduleCommand } from '../schedules/service.ts'
import type { ScheduleRow } from '../schedules/store.ts'
import { deleteTargetCommand } from '../targets/service.ts'

/** The kinds to export; all by default. */
export function readKinds(text: string | undefined): readonly AsCodeKind[] {
  if (text === undefined) return AS_CODE_KINDS
  const words = text.split(',').map((word) => word.trim())
  const wrong = words.find((word) => !AS_CODE_KINDS.some((kind) => kind === word))
  if (wrong === undefined) return AS_CODE_KINDS.filter((kind) => words.includes(kind))
  const near = nearestWord(wrong, AS_CODE_KINDS)
  const message = `is not a kind of object in a document${near === null ? '' : `; did you mean ${near}?`}`
  throw invalid([{ field: 'kinds', value: wrong, message, allowed: AS_CODE_KINDS.join(', ') }])
}

/** The stored objects as a document: sorted, and without defaults, hidden values and runtime state. */
export function documentOf(stored: StoredObjects, kinds: readonly AsCodeKind[]): AsCodeDocument {
  const written: { readonly [Kind in AsCodeKind]: () => readonly JsonFields[] } = {
    agents: () => writeAgents(stored),
    targets: () => writeTargets(stored),
    schedules: () => writeSchedules(stored),
    budgets: () => writeBudgets(stored),
  }
  const lists = Object.fromEntries(
    AS_CODE_KINDS.flatMap((kind) => (kinds.includes(kind) ? [[kind, written[kind]()]] : [])),
  )
  return { version: 1, ...lists }
}

/** Objects sorted by name. The id is written where the name is not unique. */
function inOrder<Row extends { readonly id: string; readonly name: string }>(
  rows: readonly Row[],
  write: (row: Row) => JsonFields,
  always: (row: Row) => boolean = () => false,
): readonly JsonFields[] {
  const clear = unambiguousNames(rows)
  return rows
    .toSorted((one, other) => byText(one.name, other.name) || byText(one.id, other.id))
    .map((row) => ({ ...(clear.has(row.id) && !always(row) ? {} : { id: row.id }), ...write(row) }))
}

/** An id chosen by a user is always written, because it is part of session keys. */
const writeAgents = ({ agents }: StoredObjects): readonly JsonFields[] =>
  inOrder(agents, exportedAgent, ({ id }) => idTimeOf(id) === null)

const writeTargets = ({ targets }: StoredObjects): readonly JsonFields[] => inOrder(targets, exportedTarget)

function writeSchedules(stored: StoredObjects): readonly JsonFields[] {
  const names = {
    agents: unambiguousNames(calledOf(stored.agents)),
    targets: unambiguousNames(calledOf(stored.targets)),
  }
  const rows = new Map<string, ScheduleAgent>(stored.agents.map((row) => [row.id, row]))
  const requested = new Set(stored.schedules.flatMap(probedSchedulesOf))
  return inOrder(
    stored.schedules,
    (row) => exportedSchedule(row, { ...names, zone: stored.zone, agent: rows.get(row.agentId) ?? inlineAgent(row) }),
    ({ id }) => requested.has(id),
  )
}

/** The schedule that a probe refers to. The probe refers to it by id, so its id has to be exported. */
function probedSchedulesOf({ input }: ScheduleRow): readonly string[] {
  const { of } = (input['probe'] ?? {}) as { readonly of?: { readonly schedule_id?: unknown } | null }
  return typeof of?.schedule_id === 'string' ? [of.schedule_id] : []
}

/** A stand-in for the agent of a schedule with an inline executor, or of one whose agent was deleted. */
function inlineAgent({ agentId: id, input }: ScheduleRow): ScheduleAgent {
  const executor = inlineKindOf(id) === null ? undefined : (input['executor'] as AgentExecutor | undefined)
  return { id, executor: executor ?? { kind: 'echo' }, defaultSession: null }
}

function writeBudgets({ agents, schedules, owned, budgets }: StoredObjects): readonly JsonFields[] {
  const names = {
    agents: unambiguousNames(calledOf(agents)),
    schedules: unambiguousNames(calledOf([...schedules, ...owned])),
  }
  const nameOf = (kind: 'agents' | 'schedules', id: string): string => names[kind].get(id) ?? id
  const known = unambiguousNames(
    budgets.map((row) => ({ id: row.id, name: `${budgetKey(row)}\u0000${row.timezone.name}` })),
  )
  return budgets
    .toSorted((one, other) => byText(budgetName(one, nameOf), budgetName(other, nameOf)) || byText(one.id, other.id))
    .map((row) => ({ ...(known.has(row.id) ? {} : { id: row.id }), ...exportedBudget(row, names) }))
}

/** A stored object that is not in the document. */
export interface UnlistedObject {
  readonly kind: AsCodeKind
  readonly name: string
  readonly id: string
  readonly flaws: readonly Flaw[]
  /** Null: it is not deleted. */
  readonly createCommand: CommandFactory | null
}

/**
 * All stored objects that the document leaves out, of the kinds it contains; with `prune`, with the command that
 * deletes each.
 */
export function findUnlisted(
  context: PlanContext,
  requested: RequestedObjects,
  prune: boolean,
): readonly UnlistedObject[] {
  const { stored, caller } = context
  const left = <Row extends { readonly id: string }>(kind: AsCodeKind, rows: readonly Row[]): readonly Row[] => {
    const meant = requested[kind] && new Set(requested[kind].map(({ id }) => id))
    return meant === undefined ? [] : rows.filter(({ id }) => !meant.has(id))
  }
  const schedules = left('schedules', stored.schedules)
  const users = schedulesByUse(context, requested, new Set(prune ? schedules.map(({ id }) => id) : []))
  const all: readonly Deletion[] = [
    ...left('agents', stored.agents).map((row) => agentDeletion(context, row, users)),
    ...left('targets', stored.targets).map(({ id, name }): Deletion => ({
      ...{ kind: 'targets', id, name, reasons: usedReasons(users.targets.get(id), 'deliver to it') },
      createCommand: () => deleteTargetCommand(caller, { id, isUnused: true }),
    })),
    ...schedules.map(({ id, name }): Deletion => ({
      ...{ kind: 'schedules', id, name, reasons: [], createCommand: () => deleteScheduleCommand(caller, { id }) },
    })),
    ...left('budgets', stored.budgets).map((row): Deletion => ({
      ...{ kind: 'budgets', id: row.id, reasons: [], createCommand: () => deleteBudgetCommand(caller, { id: row.id }) },
      name: budgetName(row, (kind, id) => stored[kind].find((known) => known.id === id)?.name ?? id),
    })),
  ]
  return all.map(({ reasons, createCommand, ...one }): UnlistedObject => {
    const flaws = prune ? reasons.map((message) => ({ field: '', value: undefined, message })) : []
    return { ...one, flaws, createCommand: prune && flaws.length === 0 ? createCommand : null }
  })
}

/** An object to delete, and the reasons why it cannot be deleted. */
interface Deletion extends Pick<UnlistedObject, 'kind' | 'name' | 'id'> {
  readonly reasons: readonly string[]
  /** Null: it is never deleted. */
  readonly createCommand: CommandFactory | null
}

/**
 * The echo agent and in-process agents are never deleted, because the next start of the program would create them
 * again.
 */
function agentDeletion(context: PlanContext, { id, name, executor }: AgentRow, users: SchedulesByUse): Deletion {
  if (id === ECHO || executor.kind === 'in-process')
    return { kind: 'agents', id, name, reasons: [], createCommand: null }
  return {
    ...{ kind: 'agents', id, name, reasons: agentDeletionReasons(context, id, users) },
    createCommand: () => deleteAgentCommand(context.caller, { id, isUnused: true }),
  }
}

/** The names of the schedules that will use an agent or a target. */
interface SchedulesByUse {
  readonly agents: ReadonlyMap<string, readonly string[]>
  readonly targets: ReadonlyMap<string, readonly string[]>
}

function schedulesByUse(
  { stored }: PlanContext,
  requested: RequestedObjects,
  gone: ReadonlySet<string>,
): SchedulesByUse {
  const wanted = new Map((requested.schedules ?? []).map((one) => [one.id, one.row]))
  const stay = [...stored.schedules, ...stored.owned].filter(({ id }) => !gone.has(id) && !wanted.has(id))
  const agents = new Map<string, string[]>()
  const targets = new Map<string, string[]>()
  const note = (map: Map<string, string[]>, key: string, name: string): void => {
    const known = map.get(key)
    if (known === undefined) map.set(key, [name])
    else known.push(name)
  }
  for (const row of [...stay, ...wanted.values()].filter((one): one is ScheduleRow => one !== null)) {
    note(agents, row.agentId, row.name)
    const to = deliveryOfSchedule(row)
    if (to !== null && 'target' in to) note(targets, to.target, row.name)
  }
  return { agents, targets }
}

/** The number of schedules named in an error. */
const MAX_NAMED_SCHEDULES = 5

function usedReasons(names: readonly string[] = [], how: string): readonly string[] {
  if (names.length === 0) return []
  const more = names.length > MAX_NAMED_SCHEDULES ? ` and ${names.length - MAX_NAMED_SCHEDULES} more` : ''
  return [`cannot be deleted while schedules ${how}: ${names.slice(0, MAX_NAMED_SCHEDULES).join(', ')}${more}`]
}

function agentDeletionReasons({ stored }: PlanContext, id: string, users: SchedulesByUse): readonly string[] {
  const why = stored.needed.get(id)
  return [
    ...(stored.org.defaultAgentId === id
      ? ['is the default agent of the org; add it to the document, or make another agent the default first']
      : []),
    ...(why === undefined ? [] : [`cannot be deleted while ${why}`]),
    ...usedReasons(users.agents.get(id), 'use it'),
  ]
}
