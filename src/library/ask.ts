import { ErrLaneCleared, ErrMessageStale, ErrQueueDropped } from '../api/refusals.ts'
import type { RunView } from '../features/runs/schema.ts'
import type { MessageInput } from '../features/sessions/schema.ts'
import type { Escapement } from './escapement.ts'
import { readSessionKey } from '../service/messages.ts'
import { waitForRun } from './wait.ts'
import type { Running } from './running.ts'

/** Sends a message and waits until its run has ended. */
export async function ask(
  running: Running,
  send: Escapement['sessions']['send'],
  { key, message }: { readonly key: string; readonly message: MessageInput | string },
): Promise<RunView> {
  const leave = running.waiters.enter(running.orgId, readSessionKey(key))
  try {
    const receipt = await send(key, message)
    if (!('run_id' in receipt)) throw new Error('a command has no run to wait for; use send')
    const run = await waitForRun(running, receipt.run_id, null)
    if (run.status === 'dropped') throw new ErrQueueDropped(run.id)
    if (run.status === 'cancelled' && run.reason === 'stale') throw new ErrMessageStale(run.id)
    if (run.status === 'cancelled' && run.reason === 'lane_cleared') throw new ErrLaneCleared(run.id)
    return run
  } finally {
    leave()
  }
}
