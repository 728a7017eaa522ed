import type { Instant } from '../../../src/domain/instant.ts'
import type { SimulatedOrg, World } from '../shapes.ts'
import { groupBy, type StoredRun, type Tables } from './tables.ts'
import { demand } from './invariants.ts'

/** From when to when something counted. What ends and what begins at the same moment do not meet. */
interface Span {
  readonly from: Instant
  readonly to: Instant
  readonly id: string
}

/** No limit that stayed the same was ever exceeded, and every session kept its order, as the tables show it. */
export function checkLimits(world: World, { runs }: Tables): void {
  // A clock that was set says nothing about what was at the same time.
  if (world.serverFault === 'clock_step') return
  for (const org of world.orgs) {
    const own = runs.filter(({ orgId }) => orgId === org.id)
    checkSessions(org, own)
    checkSchedules(org, own)
    const flights = own.flatMap(flightsOf)
    atMost(org.maxConcurrent, flights, () => `org ${org.id}`)
    const byAgent = groupBy(flights, ({ run }) => run.agentId)
    for (const agent of org.agents)
      if (agent.isFixed) atMost(agent.maxConcurrent, byAgent.get(agent.id) ?? [], () => `agent ${agent.id}`)
    const { maxInflight, maxPerAgentInflight } = world.settings.tasks
    const tasks = flights.filter(({ run }) => run.trigger === 'task')
    atMost(maxInflight, tasks, () => `tasks of ${org.id}`)
    for (const [agent, of] of groupBy(tasks, ({ run }) => run.agentId))
      atMost(maxPerAgentInflight, of, () => `tasks of agent ${agent}`)
  }
}

type Flight = Span & { readonly run: StoredRun }

/** An attempt flies until it has ended, also while its callback is awaited. */
const flightsOf = (run: StoredRun): readonly Flight[] =>
  run.attempts.map(({ startedAt, finishedAt }) => ({ from: startedAt, to: finishedAt, id: run.id, run }))

/** A run holds its place in its session from its first attempt to its end, also between two attempts. */
function heldSpan(run: StoredRun): readonly Span[] {
  const [first] = run.attempts
  return first === undefined || run.finishedAt === null
    ? []
    : [{ from: first.startedAt, to: run.finishedAt, id: run.id }]
}

function atMost(limit: number | null, spans: readonly Span[], what: () => string): void {
  if (limit === null) return
  const steps = spans
    .filter(({ from, to }) => from < to)
    .flatMap(({ from, to, id }) => [
      { at: from, by: 1, id },
      { at: to, by: -1, id },
    ])
    .toSorted((a, b) => a.at - b.at || a.by - b.by)
  const present = new Set<string>()
  let count = 0
  for (const { by, id, at } of steps) {
    count += by
    if (by === 1) present.add(id)
    else present.delete(id)
    demand(count <= limit, 'limits', () => `${what()} may have ${limit} and had ${[...present].join()} at ${at}`)
  }
}

function checkSessions(org: SimulatedOrg, runs: readonly StoredRun[]): void {
  for (const session of org.sessions) {
    const own = runs.filter(({ sessionKey }) => sessionKey === session.key)
    // What came before a reset counts no more for what comes after it.
    for (const [generation, of] of groupBy(own, (run) => run.generation)) {
      const name = (): string => `session ${session.key} of ${org.id} in generation ${generation}`
      if (session.isFixed) atMost(session.maxConcurrent, of.flatMap(heldSpan), name)
      checkOrder(of, name)
    }
  }
}

interface InLine {
  readonly id: string
  readonly queuedAt: number
  readonly startedAt: number
  readonly endedAt: number
}

/** Whoever was queued first starts first, unless it has ended before. Runs of schedules get their place with their slot. */
function checkOrder(runs: readonly StoredRun[], name: () => string): void {
  const line = runs.filter(({ scheduleId }) => scheduleId === null).flatMap(inLine)
  for (const later of line)
    for (const sooner of line)
      demand(
        sooner.queuedAt >= later.queuedAt || later.startedAt > Math.min(sooner.startedAt, sooner.endedAt),
        'session_order',
        () => `${later.id} started before ${sooner.id} in ${name()}`,
      )
}

function inLine({ id, told }: StoredRun): readonly InLine[] {
  const queued = told.find(({ status }) => status === 'queued')
  if (queued === undefined) return []
  const started = told.find(({ status }) => status === 'running')
  return [{ id, queuedAt: queued.at, startedAt: started?.at ?? Infinity, endedAt: told.at(-1)?.at ?? Infinity }]
}

function checkSchedules(org: SimulatedOrg, runs: readonly StoredRun[]): void {
  for (const { id, isFixed, maxConcurrency } of org.schedules) {
    if (!isFixed || maxConcurrency === null) continue
    // A superseded run has handed its slot on before it ended.
    const own = runs.filter(({ scheduleId, superseded }) => scheduleId === id && !superseded)
    atMost(maxConcurrency, own.flatMap(heldSpan), () => `schedule ${id} of ${org.id}`)
  }
}
