import { addAll, smallest } from '../../domain/long-lists.ts'
import { runId, type RunId } from '../../domain/ids.ts'
import { isTerminal, type RunState } from '../../domain/run/run-machine.ts'
import { advanceCommand, listOpenBackfills } from '../../features/backfill/advance.ts'
import type { Ports } from '../ports.ts'
import type { LoopCommands } from '../handed-in.ts'
import { createLoop, type Loop } from './loop.ts'
import type { HistoryRow, NodeParts } from '../node-parts.ts'

/** Advances backfills. The steps themselves are decided in `features/backfill`. */
export interface Backfills {
  readonly start: () => void
  readonly stop: () => Promise<void>
  /** A backfill was started or a schedule changed: run the next pass now. */
  readonly wake: () => void
}

export interface BackfillsContext {
  readonly parts: NodeParts
  readonly ports: Pick<Ports, 'database'>
}

/** Backfills are woken when they start and when their runs end; this period catches missed wakes. */
const BACKFILL_CHECK_MS = 5_000

/** Creates the loop that advances backfills; it is woken when one of their runs ends, on any node. */
export function createBackfills({ parts, ports }: BackfillsContext): Backfills {
  const { ctx, health } = parts
  const watched = new Set<RunId>()
  const commands = parts.loopCommands('backfills')
  const loop: Loop = createLoop(() => backfillPass({ parts, ports }, { watched, commands, wake: loop.wake }), {
    everyMs: BACKFILL_CHECK_MS,
    sleep: ctx.sleep,
    onError: (error, failures) => {
      health.failed(error)
      return Math.min(5_000, 50 * 2 ** Math.min(failures, 7)) * (0.5 + ctx.random() / 2)
    },
  })
  const onTransaction = (_org: unknown, transaction: HistoryRow): void => {
    // Most deployments have no backfill, and a busy transaction has hundreds of events.
    if (watched.size > 0 && transaction.events.some((event) => isEnding(event, watched))) loop.wake()
  }
  return {
    start: () => {
      parts.listeners.add(onTransaction)
      loop.start()
    },
    stop: () => {
      parts.listeners.delete(onTransaction)
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

/** Advances each backfill that is ready and returns when to run next. It waits neither for an org nor for a run. */
async function backfillPass(
  { parts, ports }: BackfillsContext,
  { watched, commands, wake }: BackfillPassContext,
): Promise<number | undefined> {
  const { ctx, health } = parts
  if (parts.state.draining) return undefined
  const open = await listOpenBackfills(ports, ctx.clock.now())
  health.answered()
  watched.clear()
  const times: number[] = []
  for (const one of open) {
    for (const id of one.inFlight) watched.add(id)
    if (!one.isReady) addAll(times, one.nextAt === null ? [] : [one.nextAt])
    else if (!commands.isBusy(one.orgId))
      commands.submit(advanceCommand(one), (row) => {
        // Another backfill may be ready in the same org, and a run may have ended before it was watched.
        if (row !== null) wake()
      })
  }
  return times.length === 0 ? undefined : Math.max(0, smallest(times) - ctx.clock.now())
}

interface BackfillPassContext {
  readonly watched: Set<RunId>
  readonly commands: LoopCommands
  readonly wake: () => void
}
