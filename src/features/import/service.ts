import { agentInput, type AgentInput } from '../agents/schema.ts'
import {
  IMPORT_OUTCOMES,
  type ImportedLine,
  type ImportInput,
  type ImportOutcome,
  type ImportReport,
} from './schema.ts'
import { readShape } from '../../contract/read-shape.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { schemaReader } from '../../api/read-input.ts'
import { scheduleInput, schedulePatch, type ScheduleInput, type ScheduleView } from '../../contract/schedule.ts'
import { addAll } from '../../domain/long-lists.ts'
import { agentId } from '../../domain/ids.ts'
import type { Flaw } from '../../domain/input.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { sentenceFor } from '../../core/time/sentence.ts'
import { nextOccurrence } from '../../domain/time/timing.ts'
import type { Zone } from '../../core/time/zone.ts'
import { loadAgents } from '../agents/store.ts'
import { loadOrg } from '../access/orgs-store.ts'
import { timeoutFlaws } from '../../service/timeout-limit.ts'
import { createAgent } from '../../service/agents.ts'
import type { Caller } from '../../service/caller.ts'
import { textField } from '../../domain/input-fields.ts'
import type { Ports } from '../../service/ports.ts'
import { parseSchedule, type ReadSchedule, type WokenAgent } from '../../service/schedule-input.ts'
import { changeSchedule, createSchedule } from '../../service/schedules.ts'
import { readTarget } from '../../service/target/targets.ts'
import { describedWith, loadMarked, markOf, remarked, type Mark, type Marked } from '../../service/import/mark.ts'

/** Something of a file that is to be a schedule. */
export interface Wanted {
  readonly line: number
  readonly text: string
  /** Where its time stands in the line; null: in no line. */
  readonly column: number | null
  readonly name: string
  readonly description: string
  readonly identity: string
  /** Everything of the schedule but its name, its description and whether it is on. */
  readonly fields: ScheduleInput
  readonly enabled: boolean
  /** The agent that it needs and that is made with it; null: it wakes one that is there. */
  readonly agent: (AgentInput & { readonly id: string }) | null
  readonly notes: readonly string[]
}

/** A line that becomes no schedule. */
export type Unwanted = Pick<ImportedLine, 'line' | 'text' | 'column' | 'notes'> & {
  readonly outcome: ImportOutcome
  readonly name?: string | null
}

export interface Carrying {
  readonly source: ImportReport['source']
  readonly plan: boolean
  readonly zone: Zone
  readonly wanted: readonly Wanted[]
  readonly others: readonly Unwanted[]
}

/** More jobs than a person keeps in a file; each is a row, a line of the report and a note in the audit. */
const MOST_JOBS = 1_000
/** Handed in together they share turns. */
const TOGETHER = 50

/** What a file asks of the org: refuses an agent or a target that is not there before anything is looked at. */
export async function judgeImport(ports: Ports, { orgId }: Caller, input: ImportInput): Promise<void> {
  const { agent_id: agent, target_id: target } = input
  const flaws: Flaw[] = []
  if (agent !== undefined && agent !== null) {
    const name = textField({ min: 1, max: 200 })('agent_id', agent)
    if (!name.ok) throw invalid(name.flaws)
    const [row] = await loadAgents(ports.database, { orgId, ids: [agentId(agent)] })
    if (row === undefined) flaws.push({ field: 'agent_id', value: agent, message: 'names no agent of the org' })
  }
  if (target !== undefined && target !== null) {
    const found = await readTarget(ports.database, orgId, target).catch((error: unknown) => {
      if (error instanceof Refusal) return null
      throw error
    })
    if (found === null) flaws.push({ field: 'target_id', value: target, message: 'names no target of the org' })
  }
  if (flaws.length > 0) throw invalid(flaws)
}

/** Makes schedules of what a file asks for, or says what would be made. Each line is decided by itself. */
export async function carry(ports: Ports, caller: Caller, carrying: Carrying): Promise<ImportReport> {
  if (carrying.wanted.length > MOST_JOBS)
    throw invalid([
      { field: 'text', value: undefined, message: `has ${carrying.wanted.length} jobs`, allowed: `up to ${MOST_JOBS}` },
    ])
  const { source, plan, zone, wanted } = carrying
  const known = await loadMarked(ports.database, { orgId: caller.orgId, source })
  const agents = await agentsFor(ports, caller, wanted)
  const context: Context = {
    ports,
    caller: { ...caller, once: undefined },
    source,
    plan,
    zone,
    known,
    agents,
    made: new Map(),
    now: ports.clock.now(),
  }
  const lines: ImportedLine[] = carrying.others.map((other) => ({ ...NOTHING, ...other }))
  for (let from = 0; from < wanted.length; from += TOGETHER)
    addAll(lines, await Promise.all(wanted.slice(from, from + TOGETHER).map((one) => carryOne(context, one))))
  lines.sort((a, b) => a.line - b.line)
  const counts = Object.fromEntries(
    IMPORT_OUTCOMES.map((word) => [word, lines.filter(({ outcome }) => outcome === word).length]),
  ) as ImportReport['counts']
  return { source, plan, timezone: zone.name, lines: lines.map(shortened), counts }
}

const NOTHING = { name: null, schedule_id: null, agent_id: null, sentence: null, next_run_at: null } as const
const MOST_SHOWN = 300

const shortened = (line: ImportedLine): ImportedLine =>
  line.text.length <= MOST_SHOWN ? line : { ...line, text: `${line.text.slice(0, MOST_SHOWN)}…` }

interface Context {
  readonly ports: Ports
  readonly caller: Caller
  readonly source: ImportReport['source']
  readonly plan: boolean
  readonly zone: Zone
  readonly known: ReadonlyMap<string, Marked>
  readonly agents: Agents
  /** Agents that are being made: several lines may need the same one. */
  readonly made: Map<string, Promise<unknown>>
  readonly now: Instant
}

interface Agents {
  readonly usual: string | null
  /** The longest time limit that the org allows. */
  readonly maxTimeoutSeconds: number | null
  readonly rows: ReadonlyMap<string, WokenAgent>
}

async function agentsFor({ database }: Ports, { orgId }: Caller, wanted: readonly Wanted[]): Promise<Agents> {
  const org = await loadOrg(database, orgId)
  const usual = org?.defaultAgentId ?? null
  const named = wanted.flatMap(({ fields, agent }) => [fields.agent_id ?? [], agent?.id ?? []].flat())
  const ids = [...new Set([...named, ...(usual === null ? [] : [usual])])].map(agentId)
  const rows = await loadAgents(database, { orgId, ids })
  return { usual, maxTimeoutSeconds: org?.maxTimeoutSeconds ?? null, rows: new Map(rows.map((row) => [row.id, row])) }
}

async function carryOne(context: Context, wanted: Wanted): Promise<ImportedLine> {
  const { line, text, name } = wanted
  const base = { ...NOTHING, line, text, name, column: null }
  const refused = (flaws: readonly Flaw[], message: string): ImportedLine => {
    const position = flaws.find((flaw) => flaw.field === 'cron' && flaw.position !== undefined)?.position
    const column = position === undefined || wanted.column === null ? null : wanted.column + position
    return { ...base, column, outcome: 'refused', notes: [message, ...wanted.notes] }
  }
  const mark = markOf(context.source, wanted.identity, [wanted.fields, wanted.agent])
  const existing = context.known.get(mark.key)
  if (existing?.mark.content === mark.content)
    return {
      ...base,
      ...shown(existing.row.id, existing.row),
      outcome: 'unchanged',
      name: existing.row.name,
      notes: wanted.notes,
    }
  const read = readWanted(context, wanted)
  if (!('timing' in read)) return refused(read, read.map(sentenceOf).join('; '))
  const outcome = existing === undefined ? 'new' : 'changed'
  if (context.plan)
    return {
      ...base,
      ...shown(existing?.row.id ?? null, { ...read, nextRunAt: nextOf(read, wanted, context.now) }),
      outcome,
      notes: wanted.notes,
    }
  try {
    const view = await perform(context, wanted, { mark, existing })
    const { id, agent_id, sentence, next_run_at } = view
    return { ...base, name: view.name, schedule_id: id, agent_id, sentence, next_run_at, outcome, notes: wanted.notes }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return refused(error.flaws, error.flaws.length > 0 ? error.flaws.map(sentenceOf).join('; ') : error.message)
  }
}

const nextOf = ({ timing }: ReadSchedule, { enabled }: Wanted, now: Instant): Instant | null =>
  enabled ? nextOccurrence(timing, now) : null

const sentenceOf = ({ field, message, allowed }: Flaw): string =>
  `${field} ${message}${allowed === undefined ? '' : ` (allowed: ${allowed})`}`

function shown(
  id: string | null,
  row: Pick<ReadSchedule, 'timing' | 'agentId'> & { readonly nextRunAt: Instant | null },
): Pick<ImportedLine, 'schedule_id' | 'agent_id' | 'sentence' | 'next_run_at'> {
  return {
    ...{ schedule_id: id, agent_id: row.agentId, sentence: sentenceFor(row.timing) },
    next_run_at: row.nextRunAt === null ? null : formatInstant(row.nextRunAt),
  }
}

/** Reads the schedule as it would be read when it is made, so that a plan refuses what an import would refuse. */
function readWanted({ agents, now, zone }: Context, wanted: Wanted): ReadSchedule | readonly Flaw[] {
  const agent = wokenBy(agents, wanted)
  if (!('id' in agent)) return agent
  const input = { ...wanted.fields, name: wanted.name }
  const read = parseSchedule(input, { now, defaultZone: zone, agent, existing: null })
  if (!read.ok) return read.flaws
  const tooLong = timeoutFlaws(input, agents)
  return tooLong.length > 0 ? tooLong : read.value
}

function wokenBy({ rows, usual }: Agents, { agent, fields }: Wanted): WokenAgent | readonly Flaw[] {
  if (agent !== null) {
    const known = rows.get(agent.id)
    if (known !== undefined) return known
    const read = readShape(agentInput, agent)
    if (!read.ok) return read.flaws
    return { id: agentId(agent.id), executor: agent.executor, defaultSession: null }
  }
  const id = fields.agent_id ?? usual
  const found = id === null ? undefined : rows.get(id)
  if (found !== undefined) return found
  const message = id === null ? 'is missing, and the org has no default agent' : 'names no agent of the org'
  return [{ field: 'agent_id', value: id ?? undefined, message }]
}

/** Fields that a file decides: one that it says nothing of any more goes back to its default. */
const DECIDED = [
  'at',
  'every_seconds',
  'everyMs',
  'cron',
  'anchor',
  'timezone',
  'session',
  'timeout_seconds',
  'delete_after_run',
  'jitter_ms',
  'delivery',
  'agent_id',
] as const

const readNew = schemaReader(scheduleInput)
const readChange = schemaReader(schedulePatch)

async function perform(
  context: Context,
  wanted: Wanted,
  found: { readonly mark: Mark; readonly existing: Marked | undefined },
): Promise<ScheduleView> {
  const { ports, caller } = context
  if (wanted.agent !== null) await ensureAgent(context, wanted.agent)
  const { mark, existing } = found
  if (existing === undefined) {
    const description = describedWith(mark, wanted.description)
    const off = wanted.enabled ? {} : { enabled: false }
    const input = readNew({ ...wanted.fields, ...off, name: wanted.name, description })
    return createSchedule(ports, caller, input)
  }
  const reset = Object.fromEntries(DECIDED.map((name) => [name, null]))
  const description = remarked(existing.row.description, mark)
  const change = readChange({ ...reset, ...wanted.fields, description })
  return changeSchedule(ports, caller, { id: existing.row.id, change })
}

async function ensureAgent(context: Context, agent: AgentInput & { readonly id: string }): Promise<void> {
  const { ports, caller, agents, made } = context
  if (agents.rows.has(agent.id)) return
  const making = made.get(agent.id) ?? createAgent(ports, caller, schemaReader(agentInput)(agent)).catch(unlessThere)
  made.set(agent.id, making)
  await making
}

/** Somebody else imports the same line at this moment: its agent is the same. */
function unlessThere(error: unknown): void {
  if (error instanceof Refusal && error.code === 'CONFLICT') return
  throw error
}
