import { parseDuration } from '../domain/duration.ts'
import { schemaReader } from '../api/read-input.ts'
import { invalid } from '../api/refusals.ts'
import type { Flaw } from '../domain/input.ts'
import { formatInstant, type Instant } from '../domain/instant.ts'
import type { ScheduleInput } from '../features/schedules/schema.ts'
import { computeSimulation } from '../features/simulation/compute.ts'
import { parseSimulate, type SimulationRequest } from '../features/simulation/input.ts'
import {
  type SimulateAnswer,
  simulateInput,
  type SimulateInput,
  type SimulationProgress,
} from '../features/simulation/schema.ts'
import { newSchedules } from '../features/simulation/service.ts'
import type { SimulatedAgent } from '../features/simulation/task.ts'
import { readDocument } from '../platform/config/file.ts'

/** The schedules in a file, or an error message that continues the name of the file. */
type ScheduleFile =
  { readonly ok: true; readonly schedules: readonly ScheduleInput[] } | { readonly ok: false; readonly message: string }

const ALLOWED = 'one schedule, a list of them, or an object with the list under schedules'

/** Reads one or more schedules from JSON or YAML. Durations may be texts such as `30m`. */
export function readScheduleFile(text: string): ScheduleFile {
  const read = readDocument(text)
  if (!read.ok) return { ok: false, message: `is neither JSON nor YAML: ${read.message}` }
  const { value } = read
  const found = isObject(value) && Array.isArray(value['schedules']) ? (value['schedules'] as unknown) : value
  const all: readonly unknown[] = Array.isArray(found) ? found : [found]
  if (all.length === 0 || !all.every(isObject)) return { ok: false, message: `must contain ${ALLOWED}` }
  return { ok: true, schedules: all.map(withDurations) }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Converts `timeout_seconds: 5m` to 300; leaves invalid durations for the validation of the schedule. */
export function withDurations(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, withDuration(name, value)]))
}

function withDuration(name: string, value: unknown): unknown {
  if (isObject(value) && (name === 'retry_policy' || name === 'failure_options')) return withDurations(value)
  const unit = name.endsWith('_seconds') ? 'seconds' : /(?:_ms|[a-z]Ms)$/.test(name) ? 'ms' : null
  if (unit === null || typeof value !== 'string') return value
  return parseDuration(value, unit) ?? value
}

/** The options of a simulation without a server. */
export interface OfflineSimulation {
  readonly now: Instant
  readonly progress?: ((progress: SimulationProgress) => void) | undefined
}

const readInput = schemaReader(simulateInput)

/** The agent of schedules without one, as on a new server. */
const DEFAULT_AGENT: SimulatedAgent = { id: 'echo', executor_kind: 'echo' }

/**
 * Simulates from the input alone, without server or database. Agents have default settings; input that needs stored data
 * is refused.
 */
export function simulateOffline(input: SimulateInput, { now, progress }: OfflineSimulation): SimulateAnswer {
  const read = parseSimulate(readInput(input), now)
  if (!read.ok) throw invalid(read.flaws)
  const simulation = read.value
  const serverFlaws = serverNeeded(simulation)
  if (serverFlaws.length > 0) throw invalid(serverFlaws)
  const schedules = newSchedules(simulation)
  const task = {
    ...{
      from: formatInstant(simulation.from),
      to: formatInstant(simulation.to),
      timezone: 'UTC',
      seed: simulation.seed,
    },
    ...{ schedules, agents: agentsOf(simulation), default_agent_id: DEFAULT_AGENT.id, assume: simulation.assume },
    ...{
      outages: simulation.outages,
      changes: simulation.changes,
      interventions: simulation.interventions,
      max_rows: simulation.maxRows,
    },
  }
  const { view, against, diff } = computeSimulation({ task, against: simulation.against }, { progress })
  const basis = schedules.map(({ id }) => ({
    ...{ schedule_id: id, source: 'given' as const, observed_runs: 0, recorded_attempts: 0 },
  }))
  return { ...view, basis, against, diff }
}

function serverNeeded({ ids, all, replay }: SimulationRequest): readonly Flaw[] {
  const flaws: Flaw[] = []
  const message = 'requires a server'
  if (ids.length > 0) flaws.push({ field: 'ids', value: undefined, message })
  if (all) flaws.push({ field: 'all', value: true, message })
  if (replay) flaws.push({ field: 'replay', value: true, message })
  return flaws
}

/** Assumes that every named agent exists. */
function agentsOf({ schedules, changes, against }: SimulationRequest): readonly SimulatedAgent[] {
  const inputs = [...schedules, ...[...changes, ...(against ?? [])].map(({ set }) => set)]
  const agentIds = new Set(inputs.flatMap(({ agent_id: agent }) => (typeof agent === 'string' ? [agent] : [])))
  agentIds.delete(DEFAULT_AGENT.id)
  return [DEFAULT_AGENT, ...[...agentIds].map((id): SimulatedAgent => ({ id, executor_kind: 'http' }))]
}
