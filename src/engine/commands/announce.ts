import { decideDelivery, type DeliveryTarget, outboxQueueOf, type RunDelivery } from '../../domain/delivery/delivery.ts'
import { MAX_DELIVERED_OUTPUT_BYTES } from '../../domain/delivery/delivery-retry.ts'
import type { HeartbeatDelivery } from '../../domain/heartbeat/heartbeat-reply.ts'
import { targetId } from '../../domain/ids.ts'
import { because } from '../../domain/reasons.ts'
import type { TerminalState } from '../../domain/run/run-machine.ts'
import type { RunRow } from '../../features/runs/store.ts'
import type { ScheduleRow } from '../../features/schedules/store.ts'
import { cutOutput } from '../../features/runs/view.ts'
import type { OrgState } from '../org-state/org-state.ts'

/** The delivery of a schedule's results, as its input says. */
export function deliveryOfSchedule({ input }: Pick<ScheduleRow, 'input'>): RunDelivery | null {
  const given = input['delivery'] as { readonly target_id: string } | undefined
  return given === undefined ? null : { target: targetId(given.target_id) }
}

/**
 * Records the delivery of a run that has ended, with its ending. Whether the target is disabled is checked when the
 * message is written, and again before each try.
 */
export function recordDelivery(orgState: OrgState, run: RunRow, delivery: RunDelivery | HeartbeatDelivery): void {
  // Deciding whether the answer of a heartbeat is news needs rows beyond the org state.
  if ('heartbeat' in delivery) {
    orgState.changes.endedHeartbeats.push(run)
    return
  }
  // The agent was not called, so there is no answer; the run records why.
  if (run.why?.reason === 'probe_no') return
  const hasTarget = 'target' in delivery
  const { kind, why } = decideDelivery({
    ending: run.state as TerminalState,
    reply: typeof run.output === 'string' ? run.output : '',
    now: orgState.now,
    target: deliveryTargetOf(delivery),
  })
  const output = wholeOutput(orgState, run)
  // The node that serves the chat receives the event and removes the placeholder.
  if (kind === 'clear') return
  // In a chat a person waits for an answer to the message that was dropped.
  const answersDrop = run.state === 'dropped' && 'session' in delivery
  // What is not delivered was reported at admission or as an event; an answer that asks not to be sent gets a row.
  if (kind === 'keep' && why.reason !== 'no_reply' && !answersDrop) return
  // One message per run: a second one would have the same id.
  const id = deliveryIdOf(run.id)
  const state = kind === 'keep' && !answersDrop ? 'kept' : 'pending'
  const line = outboxQueueOf(delivery)
  const deliveryWhy = answersDrop ? because('deliver', 'session.drop', { target: line }) : why
  orgState.changes.deliveries.push({ id, runId: run.id, to: delivery, line, state, why: deliveryWhy, output })
  orgState.changes.events.push({
    kind: 'delivery.changed',
    subject: id,
    data: { run_id: run.id, target_id: hasTarget ? delivery.target : null, status: 'created' },
  })
}

function deliveryTargetOf(delivery: RunDelivery): DeliveryTarget {
  if ('callback' in delivery) return { kind: 'callback', name: delivery.callback }
  if (!('target' in delivery)) return { kind: 'chat', name: outboxQueueOf(delivery) }
  const { target: name } = delivery
  return { kind: 'saved', name, audience: 'program', isDisabled: false, failuresInARow: 0, quietHours: null }
}

/** The id of a run's delivery derives from the run. */
export const deliveryIdOf = (run: string): string => `dlv_${run.replace(/^[a-z]+_/, '')}`

/** The whole output as JSON, if the run stores only the beginning of it. */
function wholeOutput({ changes }: OrgState, run: RunRow): string | null {
  const fullOutput = changes.fullOutputs.get(run.id)
  changes.fullOutputs.delete(run.id)
  if (fullOutput === undefined || fullOutput === null || run.state !== 'success') return null
  const whole = JSON.stringify(cutOutput(fullOutput, MAX_DELIVERED_OUTPUT_BYTES))
  return whole === JSON.stringify(run.output) ? null : whole
}
