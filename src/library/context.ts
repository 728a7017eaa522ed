import type { App } from '../app.ts'
import { inviteWorker } from '../engine/invited.ts'
import type { OperationContext } from '../operations/context.ts'
import type { OperationTable } from '../operations/handler.ts'
import { OPERATIONS } from '../operations/table.ts'

/** What each program that embeds the engine decides for itself. */
type Own = Pick<OperationContext, 'version' | 'config' | 'health' | 'isDraining' | 'defaultAgent' | 'ended' | 'log'>

/** What operations have instead of globals, in a program that runs the engine. */
export function operationContext(
  { parts, ports, live, work, loops }: App,
  own: Own,
): OperationContext & { readonly operations: OperationTable } {
  return {
    ...{ operations: OPERATIONS, ports, live, work, wakeSchedules: loops.wakeSchedules },
    workers: { wait: parts.workers.wait, say: parts.progress.say, invite: (about) => inviteWorker(parts, about) },
    ...own,
  }
}
