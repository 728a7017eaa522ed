import type { RunView } from '../features/runs/schema.ts'
import type { OperationSpec } from '../api/operation.ts'
import type { RunId } from '../domain/ids.ts'
import { isTerminal } from '../domain/run/run-machine.ts'
import { getRun } from '../service/runs-read.ts'
import type { Call } from './handler.ts'

/**
 * The run once it has ended, or as it is when the time is up, the asker has gone or the node goes down. Events say when to
 * look; the record says what there is to see.
 */
export async function settledRun(
  { ctx, ports, caller, signal }: Pick<Call<OperationSpec>, 'ctx' | 'ports' | 'caller' | 'signal'>,
  id: RunId,
  ms: number,
): Promise<RunView> {
  const { promise, give } = ctx.ended(id)
  const timer = setTimeout(give, ms)
  signal().addEventListener('abort', give)
  try {
    const run = await getRun(ports, caller.orgId, id)
    if (isTerminal(run.status)) return run
    // The message was accepted even if the node drains before the run settles.
    await promise.catch(() => undefined)
    return await getRun(ports, caller.orgId, id)
  } finally {
    clearTimeout(timer)
    signal().removeEventListener('abort', give)
    give()
  }
}
