import { decideHeartbeatAlert } from '../../domain/alerts.ts'
import { MAX_DELIVERED_OUTPUT_BYTES } from '../../domain/delivery/delivery-retry.ts'
import { outboxQueueOf, type RunDelivery } from '../../domain/delivery/delivery.ts'
import { type HeartbeatEnding, decideHeartbeatEnding } from '../../domain/heartbeat/heartbeat-ending.ts'
import type { HeartbeatDelivery } from '../../domain/heartbeat/heartbeat-reply.ts'
import { nextHeartbeatAt, nextOkStreak } from '../../domain/heartbeat/heartbeat.ts'
import { readNextCheck } from '../../domain/heartbeat/next-check.ts'
import type { AgentId, RunId } from '../../domain/ids.ts'
import { because, explainWhy, type Why } from '../../domain/reasons.ts'
import type { TerminalState } from '../../domain/run/run-machine.ts'
import { endAlert, raiseAlert } from './alerts.ts'
import { deliveryIdOf } from './announce.ts'
import type { OrgState } from '../org-state/org-state.ts'
import {
  type HeartbeatLogRow,
  type DeliveredHeartbeat,
  loadLastDelivered,
  writeHeartbeatLog,
} from '../../features/heartbeats/log-store.ts'
import { type HeartbeatRow, loadHeartbeats, saveHeartbeatProgress } from '../../features/heartbeats/store.ts'
import { storedHeartbeatConfig } from '../../features/heartbeats/view.ts'
import type { RunRow } from '../../features/runs/store.ts'
import { cutOutput, cutText } from '../../features/runs/view.ts'
import type { Transaction } from '../../platform/db/database.ts'

/** Whether a heartbeat worked, failed or had no route, or stopped for a reason that says nothing about either. */
interface HeartbeatResult {
  readonly result: 'well' | 'to nothing' | 'not far'
  readonly why: Why
}

/** Counts failed heartbeats in a row, and raises or clears the alert about them. */
export function updateStreak(state: OrgState, row: HeartbeatRow, { result, why }: HeartbeatResult): HeartbeatRow {
  if (result === 'not far') return row
  const streak = result === 'well' ? 0 : row.failingStreak + 1
  const { agentId: agent, alertId: open } = row
  const decision = decideHeartbeatAlert({
    streak,
    agent,
    problem: explainWhy(why).replace(/\.$/, ''),
    raised: open !== null,
  })
  if (decision.kind === 'none') return { ...row, failingStreak: streak }
  const id = open ?? `alr_${state.transactionNo}_${agent}`
  const alert = { id, ...heartbeatAlertSubject(row), why: decision.why }
  if (decision.kind === 'raise') raiseAlert(state, alert)
  else endAlert(state, alert)
  return { ...row, failingStreak: streak, alertId: decision.kind === 'raise' ? id : null }
}

/** Ends the alert of a heartbeat that a user has changed. */
export function endHeartbeatAlert(state: OrgState, row: Pick<HeartbeatRow, 'agentId' | 'alertId'>): void {
  const { alertId: id, agentId: agent } = row
  if (id !== null)
    endAlert(state, {
      id,
      ...heartbeatAlertSubject(row),
      why: because('heartbeat_changed', 'alerts.heartbeat_failing', { agent }),
    })
}

const heartbeatAlertSubject = ({ agentId: id }: Pick<HeartbeatRow, 'agentId'>) =>
  ({ kind: 'heartbeat_failing', subjectKind: 'agent', subjectId: id, about: id }) as const

type HeartbeatPlan = HeartbeatDelivery['heartbeat']

/** The id of a heartbeat's log entry derives from its run. */
export const heartbeatEntryId = (run: RunId): string => `hbt_${run.replace(/^[a-z]+_/, '')}`

/**
 * Decides about the answers of heartbeats that have ended in this transaction: news goes to the outbox in the same
 * transaction, and every outcome is logged.
 */
export async function decideHeartbeats(tx: Transaction, state: OrgState): Promise<void> {
  const ended = state.changes.endedHeartbeats.flatMap((run) =>
    run.delivery !== null && 'heartbeat' in run.delivery ? [{ run, plan: run.delivery.heartbeat }] : [],
  )
  const { orgId } = state
  const agentIds = ended.map(({ run }) => run.agentId)
  const [rows, delivered] = await Promise.all([
    loadHeartbeats(tx, { orgId, agentIds }),
    loadLastDelivered(tx, { orgId, agentIds, lines: ended.map(({ plan }) => heartbeatReceiver(plan)) }),
  ])
  const rowsByAgent = new Map(rows.map((row) => [row.agentId, row]))
  const entries = ended.map(({ run, plan }) => {
    const ending = decideHeartbeatEnding(endingFacts(state, run, { plan, delivered }))
    const row = rowsByAgent.get(run.agentId)
    if (row !== undefined) rowsByAgent.set(row.agentId, updatedHeartbeat(row, { run, plan, ending, state }))
    return recordOutcome(state, run, { plan, ending })
  })
  writeHeartbeatLog(tx, orgId, entries)
  if (rowsByAgent.size > 0) saveHeartbeatProgress(tx, orgId, [...rowsByAgent.values()])
}

/** The receiver, independent of how the target is written; empty when there is none. */
const heartbeatReceiver = ({ to }: HeartbeatPlan): string => (to === null ? '' : outboxQueueOf(to))

function endingFacts(
  state: OrgState,
  run: RunRow,
  { plan, delivered }: { readonly plan: HeartbeatPlan; readonly delivered: readonly DeliveredHeartbeat[] },
): Parameters<typeof decideHeartbeatEnding>[0] {
  const last = delivered.find(({ agentId, line }) => agentId === run.agentId && line === heartbeatReceiver(plan))
  return {
    ending: run.state as TerminalState,
    endedWhy: run.why ?? run.decision,
    reply: heartbeatReply(state, run),
    isSent: plan.to !== null,
    ...{ ackMaxChars: plan.ackMaxChars, target: plan.target, lastDelivered: last ?? null, now: state.now },
  }
}

/** The agent's full answer as text; anything but text is shown as JSON. */
function heartbeatReply({ changes }: OrgState, run: RunRow): string {
  const fullOutput = changes.fullOutputs.get(run.id) ?? run.output
  changes.fullOutputs.delete(run.id)
  if (run.state !== 'success' || fullOutput === null || fullOutput === undefined) return ''
  const cut = cutOutput(fullOutput, MAX_DELIVERED_OUTPUT_BYTES)
  return typeof cut === 'string' ? cut : JSON.stringify(cut)
}

interface DecidedEnding {
  readonly plan: HeartbeatPlan
  readonly ending: HeartbeatEnding
}

/** Whether the heartbeat was planned, not requested by a user. */
const isPlanned = (run: RunRow, { dueAt }: HeartbeatPlan): boolean => dueAt !== null && run.retryOf === null

/**
 * Updates the streak, and with it the interval of an adaptive heartbeat unless the next one is already due. An agent
 * that names its next check is asked then.
 */
function updatedHeartbeat(
  row: HeartbeatRow,
  { run, plan, ending, state }: DecidedEnding & { readonly run: RunRow; readonly state: OrgState },
): HeartbeatRow {
  if (!isPlanned(run, plan)) return row
  const updated = updateStreak(state, row, { result: RESULT_OF_OUTCOME[ending.outcome], why: ending.why })
  return { ...updated, ...nextHeartbeat(row, { run, ending, state }) }
}

const RESULT_OF_OUTCOME: Record<HeartbeatEnding['outcome'], HeartbeatResult['result']> = {
  suppressed: 'well',
  news: 'well',
  failed: 'to nothing',
  cancelled: 'not far',
  skipped: 'not far',
}

type NextHeartbeat = Pick<HeartbeatRow, 'okStreak' | 'dueAt' | 'nextAt'>

function nextHeartbeat(
  row: HeartbeatRow,
  { run, ending, state }: Pick<DecidedEnding, 'ending'> & { readonly run: RunRow; readonly state: OrgState },
): NextHeartbeat {
  const { now } = state
  const okStreak = nextOkStreak(row.okStreak, ending.counts)
  const requestedAt = row.enabled ? readNextCheck(state.changes.nextChecks.get(run.id), now) : null
  if (requestedAt !== null) return { okStreak, dueAt: requestedAt, nextAt: requestedAt }
  const config = storedHeartbeatConfig(row)
  if (config.adaptive === null || row.lastDueAt === null || row.dueAt === null || row.dueAt <= now)
    return { okStreak, dueAt: row.dueAt, nextAt: row.nextAt }
  const dueAt = nextHeartbeatAt(config, { dueAt: row.lastDueAt, now, okStreak })
  return { okStreak, dueAt, nextAt: dueAt }
}

function recordOutcome(state: OrgState, run: RunRow, { plan, ending }: DecidedEnding): HeartbeatLogRow {
  const { outcome, why, content } = ending
  const deliveryId =
    content === null || plan.to === null ? null : recordHeartbeatDelivery(state, run, { plan, content, to: plan.to })
  state.changes.heartbeatOutcomes.push(outcome)
  publishHeartbeat(state, run.agentId, { outcome, reason: why.reason, runId: run.id })
  return {
    ...{
      id: heartbeatEntryId(run.id),
      agentId: run.agentId,
      dueAt: isPlanned(run, plan) ? plan.dueAt : null,
      at: run.createdAt,
    },
    ...{ outcome, why, target: plan.target, runId: run.id, deliveryId, finishedAt: run.finishedAt },
    content: content === null ? null : cutText(content, MAX_DELIVERED_OUTPUT_BYTES),
    sessionKey: content === null ? null : (plan.session ?? null),
  }
}

/** Records the delivery: the answer of the run without the token. The run itself stores the whole answer. */
function recordHeartbeatDelivery(
  state: OrgState,
  run: RunRow,
  { plan, content, to }: { readonly plan: HeartbeatPlan; readonly content: string; readonly to: RunDelivery },
): string {
  const id = deliveryIdOf(run.id)
  const why = because('deliver', 'heartbeat.target', { target: plan.target })
  const output = JSON.stringify(content)
  state.changes.deliveries.push({ id, runId: run.id, to, line: outboxQueueOf(to), state: 'pending', why, output })
  state.changes.events.push({
    kind: 'delivery.changed',
    subject: id,
    data: { run_id: run.id, target_id: 'target' in to ? to.target : null, status: 'created' },
  })
  return id
}

/** Publishes the outcome of a heartbeat. */
export function publishHeartbeat(
  state: OrgState,
  agentId: AgentId,
  what: { readonly outcome: string; readonly reason: string; readonly runId: RunId | null },
): void {
  const data = { outcome: what.outcome, reason: what.reason, run_id: what.runId }
  state.changes.events.push({ kind: 'heartbeat.changed', subject: agentId, data })
}
