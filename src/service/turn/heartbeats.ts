import { DELIVERED_OUTPUT_BYTES } from '../../domain/delivery/delivery-retry.ts'
import { lineOf, type RunDelivery } from '../../core/delivery/run-delivery.ts'
import { decideBeatEnding, type BeatEnding } from '../../domain/heartbeat/heartbeat-ending.ts'
import type { HeartbeatDelivery } from '../../core/heartbeat/heartbeat-delivery.ts'
import { nextHeartbeatAt, nextOkStreak } from '../../domain/heartbeat/heartbeat.ts'
import { readNextCheck } from '../../core/heartbeat/next-check.ts'
import type { AgentId, RunId } from '../../domain/ids.ts'
import { because } from '../../domain/reasons.ts'
import type { TerminalState } from '../../domain/run/run-machine.ts'
import type { Transaction } from '../../store/database.ts'
import { loadLastDelivered, writeBeats, type BeatRow, type DeliveredBeat } from '../../features/heartbeats/log-store.ts'
import { loadHeartbeats, saveHeartbeats, type HeartbeatRow } from '../../features/heartbeats/store.ts'
import type { RunRow } from '../../store/run-row.ts'
import { deliveryIdOf } from '../desk/announce.ts'
import type { Desk } from '../desk/desk.ts'
import { followStreak, type Came } from '../heartbeat/alert.ts'
import { configOf } from '../heartbeat/view.ts'
import { cutOutput, cutText } from '../stored-output.ts'

type Planned = HeartbeatDelivery['heartbeat']

/** The entry in the log of a heartbeat that made a run is named after it. */
export const beatIdOf = (run: RunId): string => `hbt_${run.replace(/^[a-z]+_/, '')}`

/**
 * Decides about the answers of heartbeats that have ended in this turn: what is news is put into the outbox in the same
 * transaction, and everything on record.
 */
export async function judgeBeats(tx: Transaction, desk: Desk): Promise<void> {
  const ended = desk.changes.endedBeats.flatMap((run) =>
    run.delivery !== null && 'heartbeat' in run.delivery ? [{ run, plan: run.delivery.heartbeat }] : [],
  )
  const { orgId } = desk
  const agentIds = ended.map(({ run }) => run.agentId)
  const [rows, delivered] = await Promise.all([
    loadHeartbeats(tx, { orgId, agentIds }),
    loadLastDelivered(tx, { orgId, agentIds, lines: ended.map(({ plan }) => receiverOf(plan)) }),
  ])
  const standing = new Map(rows.map((row) => [row.agentId, row]))
  const beats = ended.map(({ run, plan }) => {
    const ending = decideBeatEnding(factsOf(desk, run, { plan, delivered }))
    const row = standing.get(run.agentId)
    if (row !== undefined) standing.set(row.agentId, rowAfter(row, { run, plan, ending, desk }))
    return tell(desk, run, { plan, ending })
  })
  writeBeats(tx, orgId, beats)
  if (standing.size > 0) saveHeartbeats(tx, orgId, [...standing.values()])
}

/** Whoever gets it, however the target is written; nobody has no name. */
const receiverOf = ({ to }: Planned): string => (to === null ? '' : lineOf(to))

function factsOf(
  desk: Desk,
  run: RunRow,
  { plan, delivered }: { readonly plan: Planned; readonly delivered: readonly DeliveredBeat[] },
): Parameters<typeof decideBeatEnding>[0] {
  const last = delivered.find(({ agentId, line }) => agentId === run.agentId && line === receiverOf(plan))
  return {
    ending: run.state as TerminalState,
    endedWhy: run.why ?? run.decision,
    reply: replyOf(desk, run),
    isSent: plan.to !== null,
    ...{ ackMaxChars: plan.ackMaxChars, target: plan.target, lastDelivered: last ?? null, now: desk.now },
  }
}

/** What the agent said, whole, as text: what is no text is shown as JSON. */
function replyOf({ changes }: Desk, run: RunRow): string {
  const said = changes.said.get(run.id) ?? run.output
  changes.said.delete(run.id)
  if (run.state !== 'success' || said === null || said === undefined) return ''
  const kept = cutOutput(said, DELIVERED_OUTPUT_BYTES)
  return typeof kept === 'string' ? kept : JSON.stringify(kept)
}

interface Judged {
  readonly plan: Planned
  readonly ending: BeatEnding
}

/** Whether this was a moment of the plan, and not somebody's wish to see it. */
const isPlanned = (run: RunRow, { dueAt }: Planned): boolean => dueAt !== null && run.retryOf === null

/**
 * The streak, and with it the interval of an adaptive heartbeat, unless its next moment has come meanwhile. An agent that
 * says when it wants to be asked again is asked then.
 */
function rowAfter(
  row: HeartbeatRow,
  { run, plan, ending, desk }: Judged & { readonly run: RunRow; readonly desk: Desk },
): HeartbeatRow {
  if (!isPlanned(run, plan)) return row
  const followed = followStreak(desk, row, { came: CAME[ending.outcome], why: ending.why })
  return { ...followed, ...planAfter(row, { run, ending, desk }) }
}

const CAME: Record<BeatEnding['outcome'], Came['came']> = {
  suppressed: 'well',
  news: 'well',
  failed: 'to nothing',
  cancelled: 'not far',
  skipped: 'not far',
}

type Plan = Pick<HeartbeatRow, 'okStreak' | 'dueAt' | 'nextAt'>

function planAfter(
  row: HeartbeatRow,
  { run, ending, desk }: Pick<Judged, 'ending'> & { readonly run: RunRow; readonly desk: Desk },
): Plan {
  const { now } = desk
  const okStreak = nextOkStreak(row.okStreak, ending.counts)
  const wished = row.enabled ? readNextCheck(desk.changes.nextChecks.get(run.id), now) : null
  if (wished !== null) return { okStreak, dueAt: wished, nextAt: wished }
  const config = configOf(row)
  if (config.adaptive === null || row.lastDueAt === null || row.dueAt === null || row.dueAt <= now)
    return { okStreak, dueAt: row.dueAt, nextAt: row.nextAt }
  const dueAt = nextHeartbeatAt(config, { dueAt: row.lastDueAt, now, okStreak })
  return { okStreak, dueAt, nextAt: dueAt }
}

function tell(desk: Desk, run: RunRow, { plan, ending }: Judged): BeatRow {
  const { outcome, why, content } = ending
  const deliveryId = content === null || plan.to === null ? null : send(desk, run, { plan, content, to: plan.to })
  desk.changes.beatOutcomes.push(outcome)
  tellBeat(desk, run.agentId, { outcome, reason: why.reason, runId: run.id })
  return {
    ...{
      id: beatIdOf(run.id),
      agentId: run.agentId,
      dueAt: isPlanned(run, plan) ? plan.dueAt : null,
      at: run.createdAt,
    },
    ...{ outcome, why, target: plan.target, runId: run.id, deliveryId, finishedAt: run.finishedAt },
    content: content === null ? null : cutText(content, DELIVERED_OUTPUT_BYTES),
    sessionKey: content === null ? null : (plan.session ?? null),
  }
}

/** What is sent is the answer of the run without the token: whoever reads the run sees all of it. */
function send(
  desk: Desk,
  run: RunRow,
  { plan, content, to }: { readonly plan: Planned; readonly content: string; readonly to: RunDelivery },
): string {
  const id = deliveryIdOf(run.id)
  const why = because('deliver', 'heartbeat.target', { target: plan.target })
  const output = JSON.stringify(content)
  desk.changes.deliveries.push({ id, runId: run.id, to, line: lineOf(to), state: 'pending', why, output })
  desk.changes.events.push({
    kind: 'delivery.changed',
    subject: id,
    data: { run_id: run.id, target_id: 'target' in to ? to.target : null, status: 'created' },
  })
  return id
}

/** Tells everybody who watches what became of a heartbeat. */
export function tellBeat(
  desk: Desk,
  agentId: AgentId,
  what: { readonly outcome: string; readonly reason: string; readonly runId: RunId | null },
): void {
  const data = { outcome: what.outcome, reason: what.reason, run_id: what.runId }
  desk.changes.events.push({ kind: 'heartbeat.changed', subject: agentId, data })
}
