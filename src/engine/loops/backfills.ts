import { addAll, smallest } from '../../domain/long-lists.ts'
import { runId, type RunId } from '../../domain/ids.ts'
import { isTerminal, type RunState } from '../../domain/run/run-machine.ts'
import { advanceWork, findOpenBackfills } from '../../service/backfill/advance.ts'
import type { Ports } from '../../service/ports.ts'
import type { HandedIn } from '../handed-in.ts'
import { createLoop, type Loop } from './loop.ts'
import type { HistoryRow, NodeParts } from '../node-parts.ts'

/** When backfills are taken a step further. What the step is is decided elsewhere. */
export interface Backfills {
  readonly start: () => void
  readonly stop: () => Promise<void>
  /** Somebody has begun one, or changed a schedule. */
  readonly wake: () => void
}

export interface BackfillsContext {
  readonly parts: NodeParts
  readonly ports: Pick<Ports, 'database'>
}

/** Whoever ends a run of a backfill, or begins one, says so; this makes it certain. */
const LOOK_EVERY_MS = 5_000

/** The loop that looks after backfills: woken when one of their runs ends, on whatever node that was. */
export function createBackfills({ parts, ports }: BackfillsContext): Backfills {
  const { ctx, health } = parts
  const watched = new Set<RunId>()
  const handed = parts.handedIn('backfills')
  const loop: Loop = createLoop(() => backfillPass({ parts, ports }, { watched, handed, wake: loop.wake }), {
    everyMs: LOOK_EVERY_MS,
    sleep: ctx.sleep,
    onError: (error, failures) => {
      health.failed(error)
      return Math.min(5_000, 50 * 2 ** Math.min(failures, 7)) * (0.5 + ctx.random() / 2)
    },
  })
  const hear = (_org: unknown, turn: HistoryRow): void => {
    // Nearly nobody backfills, and a busy turn has hundreds of events.
    if (watched.size > 0 && turn.events.some((event) => isEnding(event, watched))) loop.wake()
  }
  return {
    start: () => {
      parts.hearers.add(hear)
      loop.start()
    },
    stop: () => {
      parts.hearers.delete(hear)
      return loop.stop()
    },
    wake: loop.wake,
  }
}

function isEnding([kind, subject, data]: HistoryRow['events'][number], watched: ReadonlySet<RunId>): boolean {
  if (kind !== 'run.changed' || !watched.has(runId(subject))) return false
  const status = (data as { readonly status?: RunState }).status
  return status !== undefined && isTerminal(status)
}

/** Takes each that is ready a step further, and says when to look again. Waits neither for an org nor for a run. */
async function backfillPass(
  { parts, ports }: BackfillsContext,
  { watched, handed, wake }: Looking,
): Promise<number | undefined> {
  const { ctx, health } = parts
  if (parts.state.draining) return undefined
  const open = await findOpenBackfills(ports, ctx.clock.now())
  health.answered()
  watched.clear()
  const moments: number[] = []
  for (const one of open) {
    for (const id of one.inFlight) watched.add(id)
    if (!one.isReady) addAll(moments, one.nextAt === null ? [] : [one.nextAt])
    else if (!handed.isBusy(one.orgId))
      handed.hand(advanceWork(one), (row) => {
        // Another may be ready in the same org, and a run may have ended before anybody watched it.
        if (row !== null) wake()
      })
  }
  return moments.length === 0 ? undefined : Math.max(0, smallest(moments) - ctx.clock.now())
}

interface Looking {
  readonly watched: Set<RunId>
  readonly handed: HandedIn
  readonly wake: () => void
}
