import { agentInput, type AgentInput } from '../agents/schema.ts'
import {
  IMPORT_OUTCOMES,
  type ImportedLine,
  type ImportInput,
  type ImportOutcome,
  type ImportReport,
} from './schema.ts'
import { readShape, schemaReader } from '../../api/read-input.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { scheduleInput, schedulePatch, type ScheduleInput, type ScheduleView } from '../schedules/schema.ts'
import { addAll } from '../../domain/long-lists.ts'
import { agentId } from '../../domain/ids.ts'
import type { Flaw } from '../../domain/input.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { sentenceFor } from '../../domain/time/sentence.ts'
import { nextOccurrence } from '../../domain/time/timing.ts'
import type { Zone } from '../../domain/time/zone.ts'
import { loadAgents } from '../agents/store.ts'
import { loadOrg } from '../access/orgs-store.ts'
import { timeoutFlaws } from '../budgets/limits.ts'
import { createAgent } from '../agents/service.ts'
import type { Caller } from '../access/caller.ts'
import { textField } from '../../domain/input-fields.ts'
import type { Ports } from '../../engine/ports.ts'
import { parseSchedule, type ParsedSchedule, type ScheduleAgent } from '../schedules/input.ts'
import { updateSchedule, createSchedule } from '../schedules/service.ts'
import { loadRequestedTarget } from '../targets/service.ts'
import {
  describedWith,
  loadImportedSchedules,
  importMarkOf,
  withNewMark,
  type ImportMark,
  type ImportedSchedule,
} from './imported.ts'

/** A schedule to import. */
export interface ImportItem {
  readonly line: number
  readonly text: string
  /** The column of its time expression in the line; null: it has no line. */
  readonly column: number | null
  readonly name: string
  readonly description: string
  readonly identity: string
  /** The fields of the schedule except name, description and `enabled`. */
  readonly fields: ScheduleInput
  readonly enabled: boolean
  /** An agent to create with the schedule; null: it uses an existing one. */
  readonly agent: (AgentInput & { readonly id: string }) | null
  readonly notes: readonly string[]
}

/** A line that is not imported. */
export type SkippedLine = Pick<ImportedLine, 'line' | 'text' | 'column' | 'notes'> & {
  readonly outcome: ImportOutcome
  readonly name?: string | null
}

export interface ImportRequest {
  readonly source: ImportReport['source']
  readonly plan: boolean
  readonly zone: Zone
  readonly wanted: readonly ImportItem[]
  readonly others: readonly SkippedLine[]
}

/** The maximum number of jobs, because each becomes a row, a line of the report and an audit record. */
const MAX_JOBS = 1_000
/** The number of jobs that are submitted together, so that they share transactions. */
const IMPORT_BATCH_SIZE = 50

/** Refuses an import whose agent or target does not exist, before any line is processed. */
export async function checkImport(ports: Ports, { orgId }: Caller, input: ImportInput): Promise<void> {
  const { agent_id: agent, target_id: target } = input
  const flaws: Flaw[] = []
  if (agent !== undefined && agent !== null) {
    const name = textField({ min: 1, max: 200 })('agent_id', agent)
    if (!name.ok) throw invalid(name.flaws)
    const [row] = await loadAgents(ports.database, { orgId, ids: [agentId(agent)] })
    if (row === undefined) flaws.push({ field: 'agent_id', value: agent, message: 'is not an agent of the org' })
  }
  if (target !== undefined && target !== null) {
    const found = await loadRequestedTarget(ports.database, orgId, target).catch((error: unknown) => {
      if (error instanceof Refusal) return null
      throw error
    })
    if (found === null) flaws.push({ field: 'target_id', value: target, message: 'is not a target of the org' })
  }
  if (flaws.length > 0) throw invalid(flaws)
}

/** Imports the lines of a file, or returns the plan. Each line succeeds or fails on its own. */
export async function runImport(ports: Ports, caller: Caller, request: ImportRequest): Promise<ImportReport> {
  if (request.wanted.length > MAX_JOBS)
    throw invalid([
      { field: 'text', value: undefined, message: `has ${request.wanted.length} jobs`, allowed: `up to ${MAX_JOBS}` },
    ])
  const { source, plan, zone, wanted } = request
  const known = await loadImportedSchedules(ports.database, { orgId: caller.orgId, source })
  const agents = await agentsFor(ports, caller, wanted)
  const context: ImportContext = {
    ports,
    caller: { ...caller, once: undefined },
    source,
    plan,
    zone,
    known,
    agents,
    agentCreations: new Map(),
    now: ports.clock.now(),
  }
  const lines: ImportedLine[] = request.others.map((other) => ({ ...EMPTY_LINE, ...other }))
  for (let from = 0; from < wanted.length; from += IMPORT_BATCH_SIZE)
    addAll(lines, await Promise.all(wanted.slice(from, from + IMPORT_BATCH_SIZE).map((one) => importOne(context, one))))
  lines.sort((a, b) => a.line - b.line)
  const counts = Object.fromEntries(
    IMPORT_OUTCOMES.map((word) => [word, lines.filter(({ outcome }) => outcome === word).length]),
  ) as ImportReport['counts']
  return { source, plan, timezone: zone.name, lines: lines.map(shortened), counts }
}

const EMPTY_LINE = { name: null, schedule_id: null, agent_id: null, sentence: null, next_run_at: null } as const
const MAX_SHOWN_TEXT = 300

const shortened = (line: ImportedLine): ImportedLine =>
  line.text.length <= MAX_SHOWN_TEXT ? line : { ...line, text: `${line.text.slice(0, MAX_SHOWN_TEXT)}…` }

interface ImportContext {
  readonly ports: Ports
  readonly caller: Caller
  readonly source: ImportReport['source']
  readonly plan: boolean
  readonly zone: Zone
  readonly known: ReadonlyMap<string, ImportedSchedule>
  readonly agents: ImportAgents
  /** Agents being created, because several lines may need the same one. */
  readonly agentCreations: Map<string, Promise<unknown>>
  readonly now: Instant
}

interface ImportAgents {
  readonly defaultAgentId: string | null
  /** The maximum time limit in the org. */
  readonly maxTimeoutSeconds: number | null
  readonly rows: ReadonlyMap<string, ScheduleAgent>
}

async function agentsFor({ database }: Ports, { orgId }: Caller, wanted: readonly ImportItem[]): Promise<ImportAgents> {
  const org = await loadOrg(database, orgId)
  const defaultAgentId = org?.defaultAgentId ?? null
  const named = wanted.flatMap(({ fields, agent }) => [fields.agent_id ?? [], agent?.id ?? []].flat())
  const ids = [...new Set([...named, ...(defaultAgentId === null ? [] : [defaultAgentId])])].map(agentId)
  const rows = await loadAgents(database, { orgId, ids })
  return {
    defaultAgentId,
    maxTimeoutSeconds: org?.maxTimeoutSeconds ?? null,
    rows: new Map(rows.map((row) => [row.id, row])),
  }
}

async function importOne(context: ImportContext, wanted: ImportItem): Promise<ImportedLine> {
  const { line, text, name } = wanted
  const base = { ...EMPTY_LINE, line, text, name, column: null }
  const refused = (flaws: readonly Flaw[], message: string): ImportedLine => {
    const position = flaws.find((flaw) => flaw.field === 'cron' && flaw.position !== undefined)?.position
    const column = position === undefined || wanted.column === null ? null : wanted.column + position
    return { ...base, column, outcome: 'refused', notes: [message, ...wanted.notes] }
  }
  const mark = importMarkOf(context.source, wanted.identity, [wanted.fields, wanted.agent])
  const existing = context.known.get(mark.key)
  if (existing?.mark.content === mark.content)
    return {
      ...base,
      ...importedFields(existing.row.id, existing.row),
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
      ...importedFields(existing?.row.id ?? null, { ...read, nextRunAt: nextOf(read, wanted, context.now) }),
      outcome,
      notes: wanted.notes,
    }
  try {
    const view = await saveImported(context, wanted, { mark, existing })
    const { id, agent_id, sentence, next_run_at } = view
    return { ...base, name: view.name, schedule_id: id, agent_id, sentence, next_run_at, outcome, notes: wanted.notes }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return refused(error.flaws, error.flaws.length > 0 ? error.flaws.map(sentenceOf).join('; ') : error.message)
  }
}

const nextOf = ({ timing }: ParsedSchedule, { enabled }: ImportItem, now: Instant): Instant | null =>
  enabled ? nextOccurrence(timing, now) : null

const sentenceOf = ({ field, message, allowed }: Flaw): string =>
  `${field} ${message}${allowed === undefined ? '' : ` (allowed: ${allowed})`}`

function importedFields(
  id: string | null,
  row: Pick<ParsedSchedule, 'timing' | 'agentId'> & { readonly nextRunAt: Instant | null },
): Pick<ImportedLine, 'schedule_id' | 'agent_id' | 'sentence' | 'next_run_at'> {
  return {
    ...{ schedule_id: id, agent_id: row.agentId, sentence: sentenceFor(row.timing) },
    next_run_at: row.nextRunAt === null ? null : formatInstant(row.nextRunAt),
  }
}

/** Validates a schedule as its creation would, so that a plan refuses the same lines as an import. */
function readWanted({ agents, now, zone }: ImportContext, wanted: ImportItem): ParsedSchedule | readonly Flaw[] {
  const agent = agentOfItem(agents, wanted)
  if (!('id' in agent)) return agent
  const input = { ...wanted.fields, name: wanted.name }
  const read = parseSchedule(input, { now, defaultZone: zone, agent, existing: null })
  if (!read.ok) return read.flaws
  const tooLong = timeoutFlaws(input, agents)
  return tooLong.length > 0 ? tooLong : read.value
}

function agentOfItem(
  { rows, defaultAgentId }: ImportAgents,
  { agent, fields }: ImportItem,
): ScheduleAgent | readonly Flaw[] {
  if (agent !== null) {
    const known = rows.get(agent.id)
    if (known !== undefined) return known
    const read = readShape(agentInput, agent)
    if (!read.ok) return read.flaws
    return { id: agentId(agent.id), executor: agent.executor, defaultSession: null }
  }
  const id = fields.agent_id ?? defaultAgentId
  const found = id === null ? undefined : rows.get(id)
  if (found !== undefined) return found
  const message = id === null ? 'is missing, and the org has no default agent' : 'is not an agent of the org'
  return [{ field: 'agent_id', value: id ?? undefined, message }]
}

/** The fields that the file controls; one that it omits is reset to its default. */
const FILE_FIELDS = [
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

async function saveImported(
  context: ImportContext,
  wanted: ImportItem,
  found: { readonly mark: ImportMark; readonly existing: ImportedSchedule | undefined },
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
  const reset = Object.fromEntries(FILE_FIELDS.map((name) => [name, null]))
  const description = withNewMark(existing.row.description, mark)
  const change = readChange({ ...reset, ...wanted.fields, description })
  return updateSchedule(ports, caller, { id: existing.row.id, change })
}

async function ensureAgent(context: ImportContext, agent: AgentInput & { readonly id: string }): Promise<void> {
  const { ports, caller, agents, agentCreations } = context
  if (agents.rows.has(agent.id)) return
  const creation =
    agentCreations.get(agent.id) ?? createAgent(ports, caller, schemaReader(agentInput)(agent)).catch(ignoreConflict)
  agentCreations.set(agent.id, creation)
  await creation
}

/** A concurrent import may create the same agent, which is then used. */
function ignoreConflict(error: unknown): void {
  if (error instanceof Refusal && error.code === 'CONFLICT') return
  throw error
}
