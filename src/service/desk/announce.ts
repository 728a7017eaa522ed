import { decideDelivery, type DeliveryTarget } from '../../domain/delivery/delivery.ts'
import { DELIVERED_OUTPUT_BYTES } from '../../domain/delivery/delivery-retry.ts'
import { lineOf, type RunDelivery } from '../../core/delivery/run-delivery.ts'
import type { HeartbeatDelivery } from '../../core/heartbeat/heartbeat-delivery.ts'
import { targetId } from '../../domain/ids.ts'
import { because } from '../../domain/reasons.ts'
import type { TerminalState } from '../../domain/run/run-machine.ts'
import type { RunRow } from '../../store/run-row.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { cutOutput } from '../stored-output.ts'
import type { Desk } from './desk.ts'

/** Where the results of a schedule go, as it was given. */
export function deliveryOf({ input }: Pick<ScheduleRow, 'input'>): RunDelivery | null {
  const given = input['delivery'] as { readonly target_id: string } | undefined
  return given === undefined ? null : { target: targetId(given.target_id) }
}

/**
 * A run with a delivery has ended: what is to be sent is put on record with its ending. Whether the target is switched
 * off is looked at when that is written, and again before each try.
 */
export function announce(desk: Desk, run: RunRow, delivery: RunDelivery | HeartbeatDelivery): void {
  // Whether the answer of a heartbeat is news takes more than what is on the desk.
  if ('heartbeat' in delivery) {
    desk.changes.endedBeats.push(run)
    return
  }
  // Nobody was woken, so nobody has said anything; the run itself says why.
  if (run.why?.reason === 'probe_no') return
  const saved = 'target' in delivery
  const { kind, why } = decideDelivery({
    ending: run.state as TerminalState,
    reply: typeof run.output === 'string' ? run.output : '',
    now: desk.now,
    target: receiverOf(delivery),
  })
  const output = wholeOutput(desk, run)
  // Whoever attends to the chat has heard of it, and clears what stands there for an answer.
  if (kind === 'clear') return
  // In a chat there is somebody who waits for an answer to what was pushed out.
  const isTold = run.state === 'dropped' && 'session' in delivery
  // What is not announced was told at admission or as an event; a reply that asks not to be sent is worth a record.
  if (kind === 'keep' && why.reason !== 'no_reply' && !isTold) return
  // One message for a run, whatever happens: a second one would have the same name.
  const id = deliveryIdOf(run.id)
  const state = kind === 'keep' && !isTold ? 'kept' : 'pending'
  const line = lineOf(delivery)
  const told = isTold ? because('deliver', 'session.drop', { target: line }) : why
  desk.changes.deliveries.push({ id, runId: run.id, to: delivery, line, state, why: told, output })
  desk.changes.events.push({
    kind: 'delivery.changed',
    subject: id,
    data: { run_id: run.id, target_id: saved ? delivery.target : null, status: 'created' },
  })
}

function receiverOf(delivery: RunDelivery): DeliveryTarget {
  if ('callback' in delivery) return { kind: 'callback', name: delivery.callback }
  if (!('target' in delivery)) return { kind: 'chat', name: lineOf(delivery) }
  const { target: name } = delivery
  return { kind: 'saved', name, audience: 'program', isDisabled: false, failuresInARow: 0, quietHours: null }
}

/** The delivery of a run is named after it. */
export const deliveryIdOf = (run: string): string => `dlv_${run.replace(/^[a-z]+_/, '')}`

/** The whole output as JSON, if the run keeps only the beginning of it. */
function wholeOutput({ changes }: Desk, run: RunRow): string | null {
  const said = changes.said.get(run.id)
  changes.said.delete(run.id)
  if (said === undefined || said === null || run.state !== 'success') return null
  const whole = JSON.stringify(cutOutput(said, DELIVERED_OUTPUT_BYTES))
  return whole === JSON.stringify(run.output) ? null : whole
}
