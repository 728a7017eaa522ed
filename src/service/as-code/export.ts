import type { AsCodeDocument } from '../../features/as-code/schema.ts'
import { invalid } from '../../api/refusals.ts'
import { AS_CODE_KINDS, type AsCodeKind } from '../../core/as-code/kinds.ts'
import { clearNames } from '../../core/as-code/match.ts'
import { byText, type Fields } from '../../core/as-code/same.ts'
import { inlineKindOf } from '../../core/executor/inline-agent.ts'
import { nearestWord } from '../../domain/nearest-word.ts'
import type { AgentExecutor } from '../../features/agents/store.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { idTimeOf } from '../../engine/ids.ts'
import type { WokenAgent } from '../schedule-input.ts'
import { writtenAgent } from './agent-fields.ts'
import { budgetKey, budgetName, writtenBudget } from './budget-fields.ts'
import { writtenSchedule } from './schedule-fields.ts'
import { calledOf, type Stored } from '../../features/as-code/stored.ts'
import { writtenTarget } from './target-fields.ts'

/** Which kinds are meant; all of them when nothing is said. */
export function readKinds(text: string | undefined): readonly AsCodeKind[] {
  if (text === undefined) return AS_CODE_KINDS
  const words = text.split(',').map((word) => word.trim())
  const wrong = words.find((word) => !AS_CODE_KINDS.some((kind) => kind === word))
  if (wrong === undefined) return AS_CODE_KINDS.filter((kind) => words.includes(kind))
  const near = nearestWord(wrong, AS_CODE_KINDS)
  const message = `is not a kind of thing that a document holds${near === null ? '' : `; did you mean ${near}?`}`
  throw invalid([{ field: 'kinds', value: wrong, message, allowed: AS_CODE_KINDS.join(', ') }])
}

/** What is stored, as a document: in one order, without defaults, without what is hidden, and without how it fares. */
export function documentOf(stored: Stored, kinds: readonly AsCodeKind[]): AsCodeDocument {
  const written: { readonly [Kind in AsCodeKind]: () => readonly Fields[] } = {
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

/** Things in the order of their names, each with its id where the name alone does not say which one it is. */
function inOrder<Row extends { readonly id: string; readonly name: string }>(
  rows: readonly Row[],
  write: (row: Row) => Fields,
  always: (row: Row) => boolean = () => false,
): readonly Fields[] {
  const clear = clearNames(rows)
  return rows
    .toSorted((one, other) => byText(one.name, other.name) || byText(one.id, other.id))
    .map((row) => ({ ...(clear.has(row.id) && !always(row) ? {} : { id: row.id }), ...write(row) }))
}

/** An id that somebody chose is part of what the agent is: it stands in session keys. */
const writeAgents = ({ agents }: Stored): readonly Fields[] =>
  inOrder(agents, writtenAgent, ({ id }) => idTimeOf(id) === null)

const writeTargets = ({ targets }: Stored): readonly Fields[] => inOrder(targets, writtenTarget)

function writeSchedules(stored: Stored): readonly Fields[] {
  const names = { agents: clearNames(calledOf(stored.agents)), targets: clearNames(calledOf(stored.targets)) }
  const rows = new Map<string, WokenAgent>(stored.agents.map((row) => [row.id, row]))
  const asked = new Set(stored.schedules.flatMap(askedOf))
  return inOrder(
    stored.schedules,
    (row) => writtenSchedule(row, { ...names, zone: stored.zone, agent: rows.get(row.agentId) ?? inlineAgent(row) }),
    ({ id }) => asked.has(id),
  )
}

/** The schedule whose state a probe asks for. It is named by its id, which therefore has to come along. */
function askedOf({ input }: ScheduleRow): readonly string[] {
  const { of } = (input['probe'] ?? {}) as { readonly of?: { readonly schedule_id?: unknown } | null }
  return typeof of?.schedule_id === 'string' ? [of.schedule_id] : []
}

/** The agent of a schedule that brings its executor, or of one whose agent is gone. */
function inlineAgent({ agentId: id, input }: ScheduleRow): WokenAgent {
  const executor = inlineKindOf(id) === null ? undefined : (input['executor'] as AgentExecutor | undefined)
  return { id, executor: executor ?? { kind: 'echo' }, defaultSession: null }
}

function writeBudgets({ agents, schedules, owned, budgets }: Stored): readonly Fields[] {
  const names = {
    agents: clearNames(calledOf(agents)),
    schedules: clearNames(calledOf([...schedules, ...owned])),
  }
  const nameOf = (kind: 'agents' | 'schedules', id: string): string => names[kind].get(id) ?? id
  const known = clearNames(budgets.map((row) => ({ id: row.id, name: `${budgetKey(row)}\u0000${row.timezone.name}` })))
  return budgets
    .toSorted((one, other) => byText(budgetName(one, nameOf), budgetName(other, nameOf)) || byText(one.id, other.id))
    .map((row) => ({ ...(known.has(row.id) ? {} : { id: row.id }), ...writtenBudget(row, names) }))
}
