import type { DeliveryView } from '../deliveries/schema.ts'
import type { ExplainStep, RunExplanation } from './schema.ts'
import type { ProbeAnswerView } from '../probes/schema.ts'
import type { AttemptView } from '../runs/schema.ts'
import { admissionSteps, executionSteps, gateSteps, policySteps, type Step } from '../../domain/explain/steps.ts'
import { instant } from '../../domain/instant.ts'
import type { Wait } from '../../domain/queue/gates.ts'
import { because, explainWhy, type Why, whyOf } from '../../domain/reasons.ts'
import { loadAttempts } from '../../store/attempts.ts'
import type { Connection } from '../../store/database.ts'
import { type DeliveryRecord, loadTries } from '../deliveries/store.ts'
import type { RunRecord } from '../../store/run-record.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { loadSchedules } from '../../store/schedules.ts'
import type { Caller } from '../../service/caller.ts'
import { deliveriesOfRun } from '../deliveries/service.ts'
import { whyPaced } from '../../service/desk/pace.ts'
import type { Live } from '../../service/live-port.ts'
import type { Ports } from '../../service/ports.ts'
import { answerOfRun } from '../probes/view.ts'
import { viewRunDetail } from '../runs/view.ts'
import { readRun } from '../../service/runs-read.ts'
import { evidenceLinks, linkTo, onlyOnce, runLinks } from '../../service/explain/links.ts'
import { nextOfRun } from '../../service/explain/next.ts'
import { policyOf } from '../../service/explain/tell.ts'

type Reading = Pick<Ports, 'database'>

/** What is known of a run: the record, and what belongs to it. */
export interface KnownRun {
  readonly run: RunRecord
  readonly attempts: readonly AttemptView[]
  readonly deliveries: readonly DeliveryView[]
  readonly schedule: ScheduleRow | null
  /** What was asked before its agent was woken. */
  readonly probe: ProbeAnswerView | null
  /** What the picker says of it now. */
  readonly wait: Wait | null
}

/** Why the run is where it is: for a waiting one the first gate that is closed to it, for the others what is on record. */
export async function explainRun(
  ports: Reading,
  caller: Caller,
  { id, live }: { readonly id: string; readonly live: Live },
): Promise<RunExplanation> {
  return tellRun(await knowRun(ports, await readRun(ports, caller.orgId, id), live))
}

/** Reads what belongs to a run. */
export async function knowRun({ database }: Reading, run: RunRecord, live: Live): Promise<KnownRun> {
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
    probe: await answerOfRun({ database }, run),
    wait: live.explain(orgId, id),
  }
}

/** The reason for where a run is. */
export const whyOfRun = ({ run, wait }: Pick<KnownRun, 'run' | 'wait'>): Why =>
  wait === null ? (run.why ?? run.decision) : whyOf(wait)

/** Puts what is known of a run into words. */
export function tellRun(known: KnownRun): RunExplanation {
  const { run, deliveries } = known
  const why = whyOfRun(known)
  return {
    ...{ run_id: run.id, status: run.state },
    ...whyOf(why),
    sentence: explainWhy(why),
    decision: run.decision,
    held_decision: run.heldDecision,
    policy: policyOf(why),
    links: onlyOnce([
      ...evidenceLinks(why.evidence),
      ...evidenceLinks(run.decision.evidence),
      ...runLinks(run),
      ...deliveries.flatMap(({ id, target_id: target }) => [
        linkTo('delivery', id),
        ...(target === null ? [] : [linkTo('target', target)]),
      ]),
    ]),
    steps: runSteps(known),
    next: nextOfRun(run, why, known.schedule),
  }
}

/** Every question on the way of a run, from where it came from to where its result went. */
export function runSteps({ run, attempts, deliveries, wait, probe }: KnownRun): readonly ExplainStep[] {
  return [
    ...entrySteps(run),
    ...gateSteps({ ...run, wait }),
    ...(probe === null ? [] : [probeStep(probe)]),
    ...executionSteps(attempts.map(standingAttempt)),
    ...deliveries.map(deliveryStep),
  ]
}

/** Of the policies, only these are asked when a person wants a run now. */
const ASKED_FOR_NOW = ['runs_per_day', 'concurrency']

function entrySteps(run: RunRecord): readonly Step[] {
  const { trigger, decision, heldDecision } = run
  if (trigger === 'schedule' || trigger === 'catchup') {
    const pace = paceStep(decision)
    const policies = policySteps(decision, heldDecision)
    return pace === null ? policies : [pace, ...policies]
  }
  if (trigger === 'manual') return policySteps(decision).filter(({ name }) => ASKED_FOR_NOW.includes(name))
  return admissionSteps(run)
}

/** Why the moment was then, where the interval moves by itself. */
export function paceStep(decision: Why): Step | null {
  const why = whyPaced(decision)
  return why === null ? null : { stage: 'plan', name: 'pace', state: 'passed', sentence: explainWhy(why) }
}

const standingAttempt = (attempt: AttemptView): Parameters<typeof executionSteps>[0][number] => ({
  number: attempt.number,
  startedAt: instant(Date.parse(attempt.started_at)),
  finishedAt: attempt.finished_at === null ? null : instant(Date.parse(attempt.finished_at)),
  status: attempt.status,
  errorCode: attempt.error_code,
  errorMessage: attempt.error_message,
  nodeId: attempt.node_id,
})

const probeStep = ({ answer, asked, sentence: seen }: ProbeAnswerView): Step => ({
  ...{ stage: 'gates', name: 'probe', state: answer === 'no' ? 'closed' : 'passed' },
  sentence: explainWhy(because(PROBE_REASONS[answer], 'probe', { asked, seen })),
})

const PROBE_REASONS = { yes: 'probe_yes', no: 'probe_no', error: 'probe_error' } as const

const deliveryStep = ({ status, sentence, target_id: target, kind }: DeliveryView): Step => ({
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
    sentence: ok ? 'It arrived.' : `It failed: ${message ?? errorCode ?? `status ${statusCode ?? 0}`}.`,
  }))
}
