import { invalid } from '../api/refusals.ts'
import { schemaReader } from '../api/read-input.ts'
import {
  simulateInput,
  type SimulateAnswer,
  type SimulateInput,
  type SimulationProgress,
} from '../features/simulation/schema.ts'
import type { SimulatedAgent } from '../features/simulation/task.ts'
import type { Flaw } from '../domain/input.ts'
import { formatInstant, type Instant } from '../domain/instant.ts'
import { computeSimulation } from '../features/simulation/compute.ts'
import { givenSchedules } from '../features/simulation/service.ts'
import { parseSimulate, type ReadSimulation } from '../features/simulation/input.ts'

/** What a simulation without a server is told. */
export interface OfflineSimulation {
  readonly now: Instant
  readonly progress?: ((progress: SimulationProgress) => void) | undefined
}

const readInput = schemaReader(simulateInput)

/** The agent of schedules that name none, as on a server that was just started. */
const DEFAULT_AGENT: SimulatedAgent = { id: 'echo', executor_kind: 'echo' }

/**
 * What would happen, computed here from nothing but what is given: no server, no database. Agents are taken as they are
 * made by default; refuses what only a server knows.
 */
export function simulateOffline(input: SimulateInput, { now, progress }: OfflineSimulation): SimulateAnswer {
  const read = parseSimulate(readInput(input), now)
  if (!read.ok) throw invalid(read.flaws)
  const asked = read.value
  const needed = serverNeeded(asked)
  if (needed.length > 0) throw invalid(needed)
  const schedules = givenSchedules(asked)
  const task = {
    ...{ from: formatInstant(asked.from), to: formatInstant(asked.to), timezone: 'UTC', seed: asked.seed },
    ...{ schedules, agents: agentsOf(asked), default_agent_id: DEFAULT_AGENT.id, assume: asked.assume },
    ...{ outages: asked.outages, changes: asked.changes, interventions: asked.interventions, max_rows: asked.maxRows },
  }
  const { view, against, diff } = computeSimulation({ task, against: asked.against }, { progress })
  const basis = schedules.map(({ id }) => ({
    ...{ schedule_id: id, source: 'given' as const, observed_runs: 0, recorded_attempts: 0 },
  }))
  return { ...view, basis, against, diff }
}

function serverNeeded({ ids, all, replay }: ReadSimulation): readonly Flaw[] {
  const flaws: Flaw[] = []
  const message = 'needs a server'
  if (ids.length > 0) flaws.push({ field: 'ids', value: undefined, message })
  if (all) flaws.push({ field: 'all', value: true, message })
  if (replay) flaws.push({ field: 'replay', value: true, message })
  return flaws
}

/** Whoever is named is there. */
function agentsOf({ schedules, changes, against }: ReadSimulation): readonly SimulatedAgent[] {
  const inputs = [...schedules, ...[...changes, ...(against ?? [])].map(({ set }) => set)]
  const named = new Set(inputs.flatMap(({ agent_id: agent }) => (typeof agent === 'string' ? [agent] : [])))
  named.delete(DEFAULT_AGENT.id)
  return [DEFAULT_AGENT, ...[...named].map((id): SimulatedAgent => ({ id, executor_kind: 'http' }))]
}
