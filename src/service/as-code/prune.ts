import type { AsCodeKind } from '../../core/as-code/kinds.ts'
import type { Flaw } from '../../domain/input.ts'
import type { AgentRow } from '../../features/agents/store.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { agentRemoval } from '../agents.ts'
import { budgetRemoval } from '../budgets.ts'
import { ECHO } from '../../features/access/first-start.ts'
import { deliveryOf } from '../desk/announce.ts'
import { scheduleRemoval } from '../schedules.ts'
import { targetRemoval } from '../target/targets.ts'
import { budgetName } from './budget-fields.ts'
import type { Asked } from './plan.ts'
import type { Context, Doing } from './wanted.ts'

/** Something that is stored and not in the document. */
export interface Left {
  readonly kind: AsCodeKind
  readonly name: string
  readonly id: string
  readonly flaws: readonly Flaw[]
  /** Null: it stays. */
  readonly doing: Doing | null
}

/** Everything of the kinds that a document names which it does not speak of, and with `prune` how it is deleted. */
export function leftOver(context: Context, asked: Asked, prune: boolean): readonly Left[] {
  const { stored, caller } = context
  const left = <Row extends { readonly id: string }>(kind: AsCodeKind, rows: readonly Row[]): readonly Row[] => {
    const meant = asked[kind] && new Set(asked[kind].map(({ id }) => id))
    return meant === undefined ? [] : rows.filter(({ id }) => !meant.has(id))
  }
  const schedules = left('schedules', stored.schedules)
  const users = usersOf(context, asked, new Set(prune ? schedules.map(({ id }) => id) : []))
  const all: readonly Going[] = [
    ...left('agents', stored.agents).map((row) => agentGoing(context, row, users)),
    ...left('targets', stored.targets).map(({ id, name }): Going => ({
      ...{ kind: 'targets', id, name, whys: whyUsed(users.targets.get(id), 'deliver to it') },
      doing: () => targetRemoval(caller, { id, isUnused: true }),
    })),
    ...schedules.map(({ id, name }): Going => ({
      ...{ kind: 'schedules', id, name, whys: [], doing: () => scheduleRemoval(caller, { id }) },
    })),
    ...left('budgets', stored.budgets).map((row): Going => ({
      ...{ kind: 'budgets', id: row.id, whys: [], doing: () => budgetRemoval(caller, { id: row.id }) },
      name: budgetName(row, (kind, id) => stored[kind].find((known) => known.id === id)?.name ?? id),
    })),
  ]
  return all.map(({ whys, doing, ...one }): Left => {
    const flaws = prune ? whys.map((message) => ({ field: '', value: undefined, message })) : []
    return { ...one, flaws, doing: prune && flaws.length === 0 ? doing : null }
  })
}

/** Something that is to go, and why it cannot. */
interface Going extends Pick<Left, 'kind' | 'name' | 'id'> {
  readonly whys: readonly string[]
  /** Null: it stays whatever anybody asks. */
  readonly doing: Doing | null
}

/** The agent to try things with and the functions of a program come back with its next start: they are the program's. */
function agentGoing(context: Context, { id, name, executor }: AgentRow, users: Users): Going {
  if (id === ECHO || executor.kind === 'in-process') return { kind: 'agents', id, name, whys: [], doing: null }
  return {
    ...{ kind: 'agents', id, name, whys: agentWhys(context, id, users) },
    doing: () => agentRemoval(context.caller, { id, isUnused: true }),
  }
}

/** Schedules that will wake an agent or deliver to a target, by name. */
interface Users {
  readonly agents: ReadonlyMap<string, readonly string[]>
  readonly targets: ReadonlyMap<string, readonly string[]>
}

function usersOf({ stored }: Context, asked: Asked, gone: ReadonlySet<string>): Users {
  const wanted = new Map((asked.schedules ?? []).map((one) => [one.id, one.row]))
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
    const to = deliveryOf(row)
    if (to !== null && 'target' in to) note(targets, to.target, row.name)
  }
  return { agents, targets }
}

/** Schedules that are named when something cannot go. */
const NAMED = 5

function whyUsed(names: readonly string[] = [], how: string): readonly string[] {
  if (names.length === 0) return []
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : ''
  return [`cannot be deleted while schedules ${how}: ${names.slice(0, NAMED).join(', ')}${more}`]
}

function agentWhys({ stored }: Context, id: string, users: Users): readonly string[] {
  const why = stored.needed.get(id)
  return [
    ...(stored.org.defaultAgentId === id
      ? ['is the default agent of the org: name it in the document, or make another one the default first']
      : []),
    ...(why === undefined ? [] : [`cannot be deleted while ${why}`]),
    ...whyUsed(users.agents.get(id), 'wake it'),
  ]
}
