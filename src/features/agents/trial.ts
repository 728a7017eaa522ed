import { agentId, type RunId } from '../../domain/ids.ts'
import { MAIN_LANE } from '../../domain/queue/lanes.ts'
import { because, explainWhy } from '../../domain/reasons.ts'
import { NO_RETRIES } from '../../domain/run/retry.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import type { Command } from '../../engine/commands-port.ts'
import { agentInState, createRun } from '../../engine/commands/runs.ts'
import type { LiveRuns } from '../../engine/live-port.ts'
import type { Ports } from '../../engine/ports.ts'
import { Refusal } from '../../api/refusals.ts'
import type { Caller } from '../access/caller.ts'
import { refuseCommandExecutor } from '../access/restrictions.ts'
import { acted, actorOf } from '../audit/entry.ts'
import { refuseOverDailyLimit } from '../budgets/limits.ts'
import type { RunDetail } from '../runs/schema.ts'
import { cancelRunById, getRunDetail } from '../runs/service.ts'
import type { AgentTest, AgentTestInput } from './schema.ts'

const DEFAULT_TEXT = 'Reply with OK.'
const DEFAULT_WAIT_SECONDS = 30

interface Trial {
  readonly id: string
  readonly input: AgentTestInput
  readonly live: LiveRuns
  /** Resolves when the run has ended or the time is up. */
  readonly settled: (id: RunId, seconds: number) => Promise<unknown>
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
  if (!isOffline) await settled(created, wait)
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
