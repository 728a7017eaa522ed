import { setTimeout as sleep } from 'node:timers/promises'
import { renewLease } from '../service/membership.ts'
import { cardOf } from '../engine/node.ts'
import type { Running } from './running.ts'

/** A node on its way down. */
export interface Stopping {
  readonly done: Promise<void>
  /** What runs has no grace any more. */
  readonly hurry: () => void
}

/** What goes down. */
export interface Leaving extends Pick<Running, 'app' | 'waiters'> {
  /** To be done when nothing runs any more and everything is still there: doors are closed here. */
  readonly lastly?: () => Promise<void>
}

/**
 * Goes down in order: no new work, no new starts; what runs has its grace, then is told to end and given back; then the
 * loops stop and the database is closed. Waiting work stays where it is. To be called once.
 */
export function stopApp(running: Leaving): Stopping {
  const hurry = new AbortController()
  return {
    done: goDown(running, hurry.signal),
    hurry: () => {
      hurry.abort()
    },
  }
}

async function goDown({ app, waiters, lastly }: Leaving, hurry: AbortSignal): Promise<void> {
  const { parts, loops } = app
  parts.state.draining = true
  parts.workers.dismiss()
  const { settings } = parts.ctx
  // Others should know at once that nothing can be expected here.
  await renewLease(parts.control, cardOf(parts), settings().node.leaseMs).catch(() => false)
  await within(parts.executions.idle(), settings().drainGraceSeconds * 1_000, hurry)
  for (const execution of parts.executions.all()) execution.abort('shutdown')
  await within(parts.executions.idle(), settings().node.stopGraceMs)
  parts.state.stopped = true
  for (const office of parts.offices.values()) await within(office.idle(), settings().node.stopGraceMs)
  // Whoever waits is told while there is still a way to tell them.
  waiters.dismiss()
  await lastly?.()
  parts.stopping.abort()
  await loops.stop()
  await Promise.all([...parts.offices.values()].map((office) => office.close()))
  await app.close()
}

async function within(done: Promise<void>, ms: number, hurry?: AbortSignal): Promise<void> {
  const over = new AbortController()
  const signal = hurry === undefined ? over.signal : AbortSignal.any([over.signal, hurry])
  await Promise.race([done, sleep(ms, undefined, { signal }).catch(() => undefined)])
  over.abort()
}
