import { isDeepStrictEqual } from 'node:util'
import type { OrgId } from '../../../src/domain/ids.ts'
import { isInFlight, PICKED } from '../../../src/domain/run/run.ts'
import type { LoadedOrg } from '../../../src/engine/org-state/memory.ts'
import { loadOrgState } from '../../../src/engine/org-state/load.ts'
import type { RunRow } from '../../../src/features/runs/store.ts'
import { loadVersion, type OrgVersion } from '../../../src/engine/transaction/history-store.ts'
import type { SimulatedNode, World } from '../shapes.ts'
import { demand } from './invariants.ts'

/**
 * A memory that ends at a turn which was lost has not been looked at since: the next turn finds that out. While the answer
 * to a commit is under way the memory is a turn ahead of its name, also when the record is put back meanwhile.
 */
export const isAt = ({ version, newest: { at, writer }, isUnsettled }: LoadedOrg, newest: OrgVersion): boolean =>
  !isUnsettled && version === newest.version && at === newest.at && writer === newest.writer

/** What a node remembers, brought up to date, is what somebody finds who looks at the tables for the first time. */
export async function expectTrueMemory(world: World, node: SimulatedNode, id: OrgId): Promise<void> {
  const office = node.parts.actorOf(id)
  const memory = office.loaded()
  demand(
    memory?.isUnsettled !== true || !office.isIdle(),
    'memory_is_true',
    () => `${node.name} keeps what it remembers of ${id} although it may be wrong`,
  )
  const newest = await loadVersion(world.database, id)
  // It is busy failing, or somebody else was faster; there will be another look.
  if (node.state !== 'alive' || memory === null || !isAt(memory, newest)) return
  const fresh = await loadOrgState(world.database, node.parts.capabilities, id)
  compare(`${node.name} of ${id} at ${newest.version}`, remembered(memory), remembered(fresh))
  world.looks += 1
}

/** Whatever a node goes on with after it has looked is on record as its own. */
export async function expectKnownAttempts({ database }: World, node: SimulatedNode, id: OrgId): Promise<void> {
  const { executions, actors: offices } = node.parts
  const memory = offices.get(id)?.loaded() ?? null
  if (node.state !== 'alive' || memory === null || !isAt(memory, await loadVersion(database, id))) return
  const rows = await database.query('select id, attempt_id from pending where org_id = $1', [id])
  const current = new Set(rows.map((row) => `${String(row['id'])} ${String(row['attempt_id'])}`))
  for (const execution of executions.all()) {
    const { orgId, runId, attemptId } = execution
    demand(
      orgId !== id || execution.isAborted() || current.has(`${runId} ${attemptId}`),
      'record_knows_attempts',
      () => `${node.name} goes on with ${attemptId} of ${runId}, which is not on record`,
    )
  }
}

type Remembered = Readonly<Record<string, ReadonlyMap<string, unknown>>>

/** Everything a decision looks at. */
function remembered({ state: desk, readyQueue: lineUp, byNode, timers, orgLimit }: LoadedOrg): Remembered {
  const runs = [...desk.runs.values()]
  const agents = new Set(runs.map(({ agentId }) => agentId))
  const lanes = new Set(runs.map(({ id }) => lineUp.laneOf(id) ?? ('nowhere' as never)))
  const sessions = [...desk.bySession.keys()]
  return {
    run: new Map(runs.map((run) => [run.id, rowOf(run)])),
    'session of': new Map([...desk.bySession].map(([key, of]) => [key, idsOf(of)])),
    'schedule of': new Map([...desk.bySchedule].map(([id, of]) => [id, idsOf(of)])),
    session: new Map(sessions.map((key) => [key, desk.sessions.get(key)])),
    schedule: new Map([...desk.bySchedule.keys()].map((id) => [id, desk.schedules.get(id)])),
    agent: new Map([...agents].map((id) => [id, desk.agents.get(id)])),
    'queued tasks of': new Map([...desk.queuedTasks].map(([id, of]) => [id, [...of].sort()])),
    'held by': new Map([...byNode].map(([id, of]) => [id, idsOf(of)])),
    'load of session': new Map(sessions.map((key) => [key, lineUp.session(key)])),
    'in flight of': new Map([...agents].map((id) => [id, lineUp.inFlightOf(id)])),
    'queued of': new Map([...agents].map((id) => [id, lineUp.queuedOf(id)])),
    'queued in': new Map([...lanes].map((lane) => [lane, lineUp.queuedIn(lane)])),
    'line in the backlog': new Map(desk.backlog.lines),
    'lane of': new Map(runs.map(({ id }) => [id, lineUp.laneOf(id)])),
    clearing: new Map(desk.clearings),
    'clock step': new Map(desk.clockSteps.map((step) => [String(step.no), step])),
    'spent of': new Map([...(desk.budgets?.budgets ?? [])].map(([id, { spent }]) => [id, [...spent]])),
    number: new Map<string, unknown>([
      ['lined up', lineUp.size()],
      ['in flight', lineUp.inFlight()],
      ['tasks in flight', lineUp.tasksInFlight()],
      // The period of a budget ends by a timer, too, which is set when the first decision is made.
      ['the next timer', desk.budgets === null ? timers.next() : null],
      ['in the backlog', desk.backlog.count],
      ['tasks in the backlog', desk.backlog.tasks],
      ['the limit of the org', orgLimit],
    ]),
  }
}

const idsOf = (runs: Iterable<RunRow>): readonly string[] => [...runs].map(({ id }) => id).sort()

/** What is not on record while a run is pending is no part of the truth: it is fetched or made when it is needed. */
function rowOf({ payload, output: _output, summary: _summary, usage: _usage, ...run }: RunRow): unknown {
  const { errorCode: _code, errorMessage: _message, lastEventIn: _told, ...row } = run
  return {
    ...row,
    why: run.why === PICKED ? null : run.why,
    payload: run.debouncing ? payload : undefined,
    // Until it starts, what a run sets aside follows from the habits of its agent, which change.
    reserves: isInFlight(run.state) ? run.reserves : [],
  }
}

function compare(where: string, memory: Remembered, fresh: Remembered): void {
  for (const [what, facts] of Object.entries(fresh)) {
    const known = memory[what] ?? new Map<string, unknown>()
    for (const key of new Set([...facts.keys(), ...known.keys()]))
      demand(
        isDeepStrictEqual(known.get(key), facts.get(key)),
        'memory_is_true',
        () => `${where}: ${what} ${key} is ${show(facts.get(key))}, remembered as ${show(known.get(key))}`,
      )
  }
}

const show = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value))
