import { fromMicros } from '../../domain/budget/budget.ts'
import { agentId, type RunId } from '../../domain/ids.ts'
import { DAY_MS, formatInstant, instant, later } from '../../domain/instant.ts'
import { MAIN_LANE } from '../../domain/queue/lanes.ts'
import { because, explainWhy } from '../../domain/reasons.ts'
import { NO_RETRIES } from '../../domain/run/retry.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import type { Command } from '../../engine/commands-port.ts'
import { agentInState, createRun } from '../../engine/commands/runs.ts'
import type { LiveRuns } from '../../engine/live-port.ts'
import type { Ports } from '../../engine/ports.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import type { Caller } from '../access/caller.ts'
import { refuseCommandExecutor } from '../access/restrictions.ts'
import { acted, actorOf } from '../audit/entry.ts'
import { refuseOverDailyLimit } from '../budgets/limits.ts'
import type { RunDetail } from '../runs/schema.ts'
import { cancelRunById, getRunDetail } from '../runs/service.ts'
import type {
  AgentOutcomes,
  AgentOutcomesFilter,
  AgentStats,
  AgentStatsFilter,
  AgentTest,
  AgentTestInput,
} from './schema.ts'
import { getAgent } from './service.ts'
import { type AgentDay, loadAgentDays, loadAgentOutcomes } from './store.ts'

const DEFAULT_TEXT = 'Reply with OK.'
const DEFAULT_WAIT_SECONDS = 30
const MILLISECONDS = 1_000

interface Trial {
  readonly id: string
  readonly input: AgentTestInput
  readonly live: LiveRuns
  /** Resolves when the run has ended or the time is up. */
  readonly settled: (id: RunId, ms: number) => Promise<unknown>
}

/**
 * Runs an agent once with a message outside any session, without retries, and waits for the result. A run that does not
 * end in time is cancelled, so that a test leaves nothing behind.
 */
export async function testAgent(ports: Ports, caller: Caller, { id, input, live, settled }: Trial): Promise<AgentTest> {
  const { text = DEFAULT_TEXT, wait_seconds: wait = DEFAULT_WAIT_SECONDS } = input
  const { orgId } = caller
  const created = await ports.commands.execute(trialCommand(caller, { id, text }))
  // Nothing can execute it: waiting would only delay the answer.
  const isOffline = live.explain(orgId, created)?.reason === 'executor_offline'
  if (!isOffline) await settled(created, wait * MILLISECONDS)
  const run = await getRunDetail(ports, { orgId, id: created }, live)
  if (!isTerminal(run.status)) await cancelUnlessEnded(ports, caller, created)
  return viewTrial(run)
}

async function cancelUnlessEnded(ports: Ports, caller: Caller, id: RunId): Promise<void> {
  try {
    await cancelRunById(ports, caller, id)
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'ALREADY_ENDED')) throw error
  }
}

function trialCommand(caller: Caller, { id, text }: { readonly id: string; readonly text: string }): Command<RunId> {
  const agentKey = agentId(id)
  return {
    orgId: caller.orgId,
    needs: { agents: [agentKey] },
    apply: (state) => {
      if (!state.agents.has(agentKey)) throw new Refusal('NOT_FOUND', `There is no agent ${id}`)
      refuseOverDailyLimit(state)
      const agent = agentInState(state, agentKey)
      refuseCommandExecutor(caller, agent.executorKind)
      const created = state.randomSource.newRunId('run', state.now)
      createRun(state, {
        id: created,
        jobRunId: created,
        agentId: agentKey,
        executorKey: agent.executorKey,
        trigger: 'message',
        lane: MAIN_LANE,
        payload: { text, attachments: [], messageIds: [], fields: {} },
        timeoutSeconds: agent.timeoutSeconds,
        retryPolicy: NO_RETRIES,
        trace: caller.trace ?? null,
        state: 'queued',
        decision: because('tested', 'request'),
      })
      state.changes.audits.push(
        acted(actorOf(caller), { kind: 'agent', id }, { verb: 'test', after: { run_id: created } }),
      )
      return created
    },
  }
}

function viewTrial(run: RunDetail): AgentTest {
  const { id, status, output, error_code: code, error_message: message, duration_ms, usage } = run
  const isSuccess = status === 'success'
  return {
    run_id: id,
    status,
    ok: isSuccess,
    output: isSuccess ? output : null,
    error_code: code,
    problem: isSuccess ? null : (message ?? explainWhy(run.why)),
    duration_ms,
    usage,
  }
}

const DEFAULT_DAYS = 14

/** How the runs of an agent went, day by day. */
export async function readAgentStats(
  ports: Ports,
  caller: Caller,
  { id, filter }: { readonly id: string; readonly filter: AgentStatsFilter },
): Promise<AgentStats> {
  const { id: known } = await getAgent(ports, caller, id)
  const { days = DEFAULT_DAYS } = filter
  const now = ports.clock.now()
  const from = instant(Math.floor(now / DAY_MS) * DAY_MS - (days - 1) * DAY_MS)
  const rows = await loadAgentDays(ports.database, { orgId: caller.orgId, agentId: agentId(known), from })
  const byDay = new Map(rows.map((row) => [row.at, row]))
  return {
    agent_id: known,
    from: formatInstant(from),
    to: formatInstant(now),
    total: figuresOf(byDay.get(null)),
    days: Array.from({ length: days }, (_, index) => {
      const at = later(from, index * DAY_MS)
      return { at: formatInstant(at), ...figuresOf(byDay.get(at)) }
    }),
  }
}

const figuresOf = (day: AgentDay | undefined): AgentStats['total'] => ({
  runs: day?.runs ?? 0,
  success: day?.success ?? 0,
  duration_p50_ms: roundedOrNull(day?.p50 ?? null),
  duration_p95_ms: roundedOrNull(day?.p95 ?? null),
  tokens: day?.tokens ?? 0,
  cost: fromMicros(day?.costMicros ?? 0),
})

const roundedOrNull = (ms: number | null): number | null => (ms === null ? null : Math.round(ms))

const MAX_OUTCOME_AGENTS = 200
const DEFAULT_OUTCOMES = 20

/** The last runs of some agents. Unknown agents are left out. */
export async function readAgentOutcomes(
  { database }: Pick<Ports, 'database'>,
  { orgId }: Caller,
  filter: AgentOutcomesFilter,
): Promise<AgentOutcomes> {
  const ids = [...new Set(filter.ids.split(',').map((id) => id.trim()))].filter((id) => id !== '')
  if (ids.length > MAX_OUTCOME_AGENTS)
    throw invalid([
      { field: 'ids', value: ids.length, message: 'names too many agents', allowed: `${MAX_OUTCOME_AGENTS}` },
    ])
  const rows = await loadAgentOutcomes(database, {
    ...{ orgId, ids: ids.map((id) => agentId(id)), limit: filter.limit ?? DEFAULT_OUTCOMES },
  })
  const runs = new Map<string, AgentOutcomes['items'][number]['runs'][number][]>()
  for (const { agentId: agent, id, state, createdAt } of rows) {
    const known = runs.get(agent) ?? []
    if (id !== null) known.push({ id, status: state, created_at: formatInstant(createdAt) })
    runs.set(agent, known)
  }
  return { items: [...runs].map(([agent, found]) => ({ agent_id: agent, runs: found })) }
}
