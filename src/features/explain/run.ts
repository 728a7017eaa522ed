import type { DeliveryView } from '../deliveries/schema.ts'
import type { ExplainStep, RunExplanation } from './schema.ts'
import type { ProbeAnswerView } from '../probes/schema.ts'
import type { AttemptView } from '../runs/schema.ts'
import { admissionSteps, executionSteps, gateSteps, policySteps, type CheckStep } from '../../domain/explain/steps.ts'
import { instant } from '../../domain/instant.ts'
import type { Wait } from '../../domain/queue/gates.ts'
import { because, explainWhy, type Why, toWhy } from '../../domain/reasons.ts'
import { loadAttempts } from '../runs/attempts-store.ts'
import type { Connection } from '../../platform/db/database.ts'
import { type DeliveryRecord, loadTries } from '../deliveries/store.ts'
import type { RunRecord } from '../runs/record-store.ts'
import { loadSchedules, type ScheduleRow } from '../schedules/store.ts'
import type { Caller } from '../access/caller.ts'
import { deliveriesOfRun } from '../deliveries/service.ts'
import { paceReasonOf } from '../../engine/commands/pace.ts'
import { explainQueued, type LiveRuns } from '../../engine/live-port.ts'
import type { Ports } from '../../engine/ports.ts'
import { probeAnswerOfRun } from '../probes/view.ts'
import { viewRunDetail } from '../runs/view.ts'
import { readRun } from '../runs/service.ts'
import { evidenceLinks, linkTo, uniqueLinks, explainPolicyOf, runLinks } from './evidence.ts'
import { nextOfRun } from './next.ts'

type RunExplainPorts = Pick<Ports, 'database'>

/** A run with its attempts, deliveries, schedule, probe result and wait. */
export interface ExplainedRun {
  readonly run: RunRecord
  readonly attempts: readonly AttemptView[]
  readonly deliveries: readonly DeliveryView[]
  readonly schedule: ScheduleRow | null
  /** The result of the probe that ran before its agent. */
  readonly probe: ProbeAnswerView | null
  /** Why it is waiting now, from this node's queue; null: it is not waiting here. */
  readonly wait: Wait | null
}

/** Explains the state of a run: by the first closed gate while it waits, else by the stored reason. */
export async function explainRun(
  ports: RunExplainPorts,
  caller: Caller,
  { id, live }: { readonly id: string; readonly live: LiveRuns },
): Promise<RunExplanation> {
  return buildRunExplanation(await loadExplainedRun(ports, await readRun(ports, caller.orgId, id), live))
}

/** Loads everything that belongs to a run. */
export async function loadExplainedRun(
  { database }: RunExplainPorts,
  run: RunRecord,
  live: LiveRuns,
): Promise<ExplainedRun> {
  const { orgId, id, scheduleId } = run
  const earlier = await loadAttempts(database, { orgId, runId: id })
  const deliveries = run.delivery === null ? [] : await deliveriesOfRun(database, orgId, id)
  const [schedule] = scheduleId === null ? [] : await loadSchedules(database, { orgId, ids: [scheduleId] })
  const { attempts } = viewRunDetail(run, { attempts: earlier, deliveries })
  return {
    run,
    attempts,
    deliveries,
    schedule: schedule ?? null,
    probe: await probeAnswerOfRun({ database }, run),
    wait: (await explainQueued({ database, live }, [run])).get(id) ?? null,
  }
}

/** The reason for the state of a run. */
export const whyOfRun = ({ run, wait }: Pick<ExplainedRun, 'run' | 'wait'>): Why =>
  wait === null ? (run.why ?? run.decision) : toWhy(wait)

/** Builds the explanation of a run. */
export function buildRunExplanation(facts: ExplainedRun): RunExplanation {
  const { run, deliveries } = facts
  const why = whyOfRun(facts)
  return {
    ...{ run_id: run.id, status: run.state },
    ...toWhy(why),
    sentence: explainWhy(why),
    decision: run.decision,
    held_decision: run.heldDecision,
    policy: explainPolicyOf(why),
    links: uniqueLinks([
      ...evidenceLinks(why.evidence),
      ...evidenceLinks(run.decision.evidence),
      ...runLinks(run),
      ...deliveries.flatMap(({ id, target_id: target }) => [
        linkTo('delivery', id),
        ...(target === null ? [] : [linkTo('target', target)]),
      ]),
    ]),
    steps: runSteps(facts),
    next: nextOfRun(run, why, facts.schedule),
  }
}

/** Every step of a run, from its trigger to the delivery of its result. */
export function runSteps({ run, attempts, deliveries, wait, probe }: ExplainedRun): readonly ExplainStep[] {
  return [
    ...entrySteps(run),
    ...gateSteps({ ...run, wait }),
    ...(probe === null ? [] : [probeStep(probe)]),
    ...executionSteps(attempts.map(executedAttemptOf)),
    ...deliveries.map(deliveryStep),
  ]
}

/** The only policies that apply to a manual run. */
const MANUAL_RUN_POLICIES = ['runs_per_day', 'concurrency']

function entrySteps(run: RunRecord): readonly CheckStep[] {
  const { trigger, decision, heldDecision } = run
  if (trigger === 'schedule' || trigger === 'catchup') {
    const pace = paceStep(decision)
    const policies = policySteps(decision, heldDecision)
    return pace === null ? policies : [pace, ...policies]
  }
  if (trigger === 'manual') return policySteps(decision).filter(({ name }) => MANUAL_RUN_POLICIES.includes(name))
  return admissionSteps(run)
}

/** The pace step of a schedule with a cadence; null: the decision does not come from a cadence. */
export function paceStep(decision: Why): CheckStep | null {
  const why = paceReasonOf(decision)
  return why === null ? null : { stage: 'plan', name: 'pace', state: 'passed', sentence: explainWhy(why) }
}

const executedAttemptOf = (attempt: AttemptView): Parameters<typeof executionSteps>[0][number] => ({
  number: attempt.number,
  startedAt: instant(Date.parse(attempt.started_at)),
  finishedAt: attempt.finished_at === null ? null : instant(Date.parse(attempt.finished_at)),
  status: attempt.status,
  errorCode: attempt.error_code,
  errorMessage: attempt.error_message,
  nodeId: attempt.node_id,
})

const probeStep = ({ answer, asked, sentence: seen }: ProbeAnswerView): CheckStep => ({
  ...{ stage: 'gates', name: 'probe', state: answer === 'no' ? 'closed' : 'passed' },
  sentence: explainWhy(because(PROBE_REASONS[answer], 'probe', { asked, seen })),
})

const PROBE_REASONS = { yes: 'probe_yes', no: 'probe_no', error: 'probe_error' } as const

const deliveryStep = ({ status, sentence, target_id: target, kind }: DeliveryView): CheckStep => ({
  ...{ stage: 'delivery', name: target ?? kind, sentence },
  state: status === 'delivered' ? 'passed' : status === 'pending' ? 'not_reached' : 'closed',
})

/** The tries of a delivery, in order. */
export async function trySteps(
  database: Connection,
  { orgId, id, triesInAll }: Pick<DeliveryRecord, 'orgId' | 'id' | 'triesInAll'>,
): Promise<readonly ExplainStep[]> {
  const tries = triesInAll === 0 ? [] : await loadTries(database, { orgId, ids: [id] })
  return tries.map(({ number, ok, message, errorCode, statusCode }) => ({
    ...{ stage: 'delivery', name: `try ${number}`, state: ok ? 'passed' : 'closed' },
    sentence: ok ? 'It was delivered.' : `It failed: ${message ?? errorCode ?? `status ${statusCode ?? 0}`}.`,
  }))
}
