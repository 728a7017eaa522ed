import { Worker } from 'node:worker_threads'
import type { App } from '../app.ts'
import { OPERATOR_ORG } from '../domain/access/access.ts'
import { stallPeriodMs } from '../domain/alerts.ts'
import type { Log } from '../engine/loops/health.ts'
import { tell } from '../engine/loops/stall.ts'
import { threadModule } from '../platform/package-root.ts'
import type { Stall } from '../service/stalls.ts'
import type { WatchdogStart } from './watchdog-thread.ts'

/** A thread that sees when the rest of the process stands still. */
export interface Watchdog {
  readonly stop: () => Promise<void>
}

const NO_WATCHDOG: Watchdog = { stop: () => Promise.resolve() }

/**
 * Starts a thread of its own that raises the alert when this process does nothing any more: a node that is alone has
 * nobody else to notice. What it raises is cleared by the node itself, as soon as it looks again.
 */
export function startWatchdog({ app, log }: { readonly app: App; readonly log: Log }): Watchdog {
  const { parts, place } = app
  const thread = threadModule('serve/watchdog-thread')
  if (thread === null) return NO_WATCHDOG
  const shared = new BigInt64Array(new SharedArrayBuffer(8))
  let told = parts.id()
  const beat = (): void => {
    // A node that was taken for lost has begun anew under another name.
    if (told !== parts.id()) worker.postMessage((told = parts.id()))
    Atomics.store(shared, 0, parts.state.draining ? 0n : process.hrtime.bigint())
  }
  const { schedules, alerts } = parts.ctx.settings()
  const periodMs = stallPeriodMs(schedules.pollMs)
  const start: WatchdogStart = { shared, place, nodeId: told, periodMs, stallPeriods: alerts.stallPeriods }
  const worker = new Worker(thread, { workerData: start })
  beat()
  worker.unref()
  const beating = setInterval(beat, Math.floor(periodMs / 2))
  beating.unref()
  worker.on('message', (stall: Stall) => {
    log({ level: 'error', message: 'This process stood still', facts: { node: stall.nodeId, alert: stall.id } })
    tell(parts, OPERATOR_ORG, stall)
  })
  worker.on('error', (error: unknown) => {
    log({ level: 'warn', message: 'The watchdog of this process has ended', facts: { error: String(error) } })
  })
  return {
    stop: async () => {
      clearInterval(beating)
      await worker.terminate()
    },
  }
}
