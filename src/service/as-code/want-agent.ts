import { agentFields as contractFields, agentInput, agentPatch, type AgentPatch } from '../../features/agents/schema.ts'
import { schemaReader } from '../../api/read-input.ts'
import { isFields, isSame, pick, type Fields } from '../../core/as-code/same.ts'
import { changedNames } from '../../core/as-code/compare.ts'
import { MASK, unmaskedExecutor } from '../../core/executor/masked.ts'
import { parseExecutor } from '../../executors/parse-executor.ts'
import type { Flaw } from '../../domain/input.ts'
import type { AgentRow } from '../../features/agents/store.ts'
import { changedAgent, newAgent } from '../agent-input.ts'
import { agentChange, agentCreation } from '../agents.ts'
import { agentFields, shownAgent, writtenAgent } from './agent-fields.ts'
import { timeoutFlaws } from '../timeout-limit.ts'
import { flawsOf, hiddenFlaws, madeOf, shownChanges, type Context, type Place, type Wanted } from './wanted.ts'

/** An agent that is asked for, and what it will be; null: it cannot be read. */
export interface WantedAgent extends Wanted {
  readonly row: AgentRow | null
}

const readInput = schemaReader(agentInput)
const readPatch = schemaReader(agentPatch)

/** What every agent must have. */
const NEEDED = ['name', 'executor']

/** Every other field at its default. */
const DEFAULTS: Fields = {
  ...Object.fromEntries(Object.keys(contractFields).flatMap((name) => (NEEDED.includes(name) ? [] : [[name, null]]))),
  description: '',
}

/** What an item asks of an agent. */
export function wantAgent(context: Context, place: Place<AgentRow>): WantedAgent {
  const { item } = place
  const name = typeof item.fields['name'] === 'string' ? item.fields['name'] : place.id
  const base = { item, name, id: place.id, isNew: place.known === null, permissions: [] }
  const refused = (flaws: readonly Flaw[]): WantedAgent => ({ ...base, changes: [], flaws, doing: null, row: null })
  try {
    return place.known === null ? made(context, base) : changed(context, base, place.known)
  } catch (error) {
    return refused(flawsOf(error))
  }
}

type Base = Pick<Wanted, 'item' | 'name' | 'id' | 'isNew' | 'permissions'>

function made({ ports, caller, now, stored }: Context, base: Base): WantedAgent {
  const input = readInput({ ...base.item.fields, id: base.id })
  const row = newAgent(input, { orgId: caller.orgId, now, newId: () => base.id })
  const flaws = [...hiddenFlaws('executor', row.executor), ...timeoutFlaws(input, stored.org)]
  return {
    ...{ ...base, row, flaws, changes: madeOf(writtenAgent(row)) },
    doing: flaws.length > 0 ? null : () => agentCreation(ports, caller, input),
  }
}

function changed({ ports, caller, stored }: Context, base: Base, known: AgentRow): WantedAgent {
  const { fields } = base.item
  const missing = NEEDED.filter((name) => fields[name] === undefined)
  if (missing.length > 0) {
    const flaws = missing.map((field) => ({ field, value: undefined, message: 'is missing' }))
    return { ...base, changes: [], flaws, doing: null, row: null }
  }
  const change = readPatch({ ...DEFAULTS, ...fields, executor: restored(fields['executor'], known.executor) })
  const row = { ...known, ...changedAgent(known, change) }
  const real = { before: agentFields(known), after: agentFields(row) }
  const names = changedNames(real.before, real.after)
  const flaws = [
    ...(names.includes('executor') ? hiddenFlaws('executor', row.executor) : []),
    ...(names.includes('timeout_seconds') ? timeoutFlaws(fields, stored.org) : []),
  ]
  const asked = { id: known.id, change: pick(change, names) as AgentPatch }
  return {
    ...{ ...base, row, flaws, changes: shownChanges(real, { before: shownAgent(known), after: shownAgent(row) }) },
    doing: flaws.length > 0 || names.length === 0 ? null : () => agentChange(ports, caller, asked),
  }
}

/**
 * What a document says of an executor, with the values that it shows hidden: those of headers while it calls the same
 * place, those of variables while it starts the same program in the same way.
 */
function restored(given: unknown, before: AgentRow['executor']): unknown {
  const open = unmaskedExecutor(given, before, 'origin')
  const read = parseExecutor('executor', open)
  const { env: known, ...others } = before as Fields
  if (!read.ok || !isFields(known)) return open
  const { env, ...rest } = read.value as Fields
  if (!isFields(env) || !isSame(rest, others)) return open
  const full = Object.entries(env).map(([name, value]) => [name, value === MASK ? (known[name] ?? value) : value])
  return { ...(open as Fields), env: Object.fromEntries(full) as unknown }
}
