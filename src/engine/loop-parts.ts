import { createLeaseWatch } from '../service/lease-watch.ts'
import { notifyNodes } from '../service/turn/lookups.ts'
import { createHandedIn, type HandedIn } from './handed-in.ts'
import type { NodeContext, NodeParts } from './node-parts.ts'
import { createNotifier } from './notifier.ts'
import { createWakeQueue } from './wake-queue.ts'

interface LoopPartsContext extends Pick<NodeParts, 'id' | 'officeOf'> {
  readonly stopping: AbortSignal
  readonly failed: (error: unknown) => void
}

type LoopParts = Pick<
  NodeParts,
  | ('control' | 'handedIn' | 'handed' | 'nodeLeases' | 'workerLeases' | 'wakes' | 'notifier')
  | ('ready' | 'hearers' | 'gapHearers' | 'published' | 'outbox' | 'plans')
>

/** What the loops of a node work with. */
export function loopParts(ctx: NodeContext, { id, officeOf, stopping, failed }: LoopPartsContext): LoopParts {
  const { sleep, log, channels } = ctx
  const { counter } = ctx.clock
  const control = ctx.control ?? ctx.database
  const handedIn = (kind: string): HandedIn => createHandedIn({ officeOf, counter, log, sleep, stopping }, kind)
  return {
    control,
    handedIn,
    handed: {
      fire: handedIn('due schedules'),
      nodes: handedIn('runs of lost nodes'),
      workers: handedIn('runs of lost workers'),
      orphans: handedIn('runs that never started'),
    },
    nodeLeases: createLeaseWatch(),
    workerLeases: createLeaseWatch(),
    wakes: createWakeQueue({ officeOf, sleep, stopping }),
    notifier: createNotifier({
      ...{ nodeId: id, channels, sleep, stopping, failed },
      send: (channel, payloads) => notifyNodes(control, channel, payloads),
    }),
    ready: new Set(),
    hearers: new Set(),
    gapHearers: new Set(),
    published: new Map(),
    outbox: { wake: () => undefined },
    plans: { wake: () => undefined },
  }
}
