import { deliveryIdempotencyKey } from '../core/delivery/delivery-tries.ts'
import type { OutMessage } from '../core/delivery/message.ts'
import type { Instant } from '../core/instant.ts'
import { formatInstant } from '../core/instant.ts'
import type { ClaimedDelivery } from '../store/outbox.ts'
import { loadRun, type RunRecord } from '../store/run-reads.ts'
import type { Ports } from './ports.ts'
import { viewRun } from './run-view.ts'
import { secretsOf } from './signing-secret.ts'
import { viewTask } from './tasks-view.ts'

/** What is sent for a delivery, or what becomes of it instead. */
export type Written =
  | { readonly kind: 'send'; readonly message: OutMessage }
  /** There is nothing to send any more. */
  | { readonly kind: 'gone'; readonly error: 'target_gone' | 'run_gone' }
  /** It is quiet at the target. */
  | { readonly kind: 'hold'; readonly until: Instant; readonly why: Why }
  /** It is not told to people. */
  | { readonly kind: 'keep'; readonly why: Why }

type Reading = Pick<Ports, 'database' | 'vault'>

/**
 * Writes the message of a delivery. A run that has ended never changes, so every try writes the same; what was given up
 * once and is sent after all is sent as it was.
 */
export async function writeMessage(
  ports: Pick<Ports, 'database'>,
  delivery: ClaimedDelivery,
  now: Instant,
): Promise<Written> {
  const { orgId, id, runId, kind, url } = delivery
  if (url === null) return 'target_gone'
  const run = delivery.body === null ? await loadRun(ports.database, { orgId, id: runId }) : null
  if (run === undefined) return 'run_gone'
  const body = delivery.body ?? (run === null ? '' : bodyOf(withWholeOutput(run, delivery), kind))
  const isCallback = kind === 'callback'
  return {
    id: deliveryIdempotencyKey(id),
    ...{ orgId, kind, url: url ?? target?.url ?? '', settings: target?.settings ?? replySettings(chat), body },
    secrets: kind === 'webhook' ? await secretsOf(ports, { orgId, now }) : [],
    headers: isCallback ? { 'X-PinchTab-Event': 'task.completed', 'X-PinchTab-Task-ID': runId ?? '' } : {},
    purpose: isCallback ? 'callback' : 'webhook',
    trace: run?.trace ?? null,
  }
}

const withWholeOutput = (run: RunRecord, { output }: ClaimedDelivery): RunRecord =>
  output === undefined ? run : { ...run, output }

/** A task's callback gets the task as everybody reads it; a target gets the run in the envelope that webhooks have. */
function bodyOf(run: RunRecord, kind: ClaimedDelivery['kind']): string {
  if (kind === 'callback') return JSON.stringify(viewTask(run))
  const timestamp = formatInstant(run.finishedAt ?? run.createdAt)
  return JSON.stringify({ type: 'run.completed', timestamp, data: viewRun(run) })
}
