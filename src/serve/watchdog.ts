import { Worker } from 'node:worker_threads'
import type { App } from '../app.ts'
import { OPERATOR_ORG } from '../domain/access/access.ts'
import { stallPeriodMs } from '../domain/alerts.ts'
import type { Log } from '../engine/loops/health.ts'
import { publishStall } from '../engine/loops/stall.ts'
import { threadModule } from '../platform/package-root.ts'
import type { EngineStall } from '../features/nodes/service.ts'
import type { WatchdogStart } from './watchdog-thread.ts'

/** A thread that detects when the main thread is blocked. */
export interface Watchdog {
  readonly stop: () => Promise<void>
}

const NO_WATCHDOG: Watchdog = { stop: () => Promise.resolve() }

/**
 * Starts a thread that raises an alert when the main thread is blocked, because a single node has no other node to notice.
 * The node itself clears the alert when it scans again.
 */
export function startWatchdog({ app, log }: { readonly app: App; readonly log: Log }): Watchdog {
  const { parts, databaseLocation: database } = app
  const thread = threadModule('serve/watchdog-thread')
  if (thread === null) return NO_WATCHDOG
  const shared = new BigInt64Array(new SharedArrayBuffer(8))
  let knownId = parts.id()
  const heartbeat = (): void => {
    // A node that was declared lost continues under a new id.
    if (knownId !== parts.id()) worker.postMessage((knownId = parts.id()))
    Atomics.store(shared, 0, parts.state.draining ? 0n : process.hrtime.bigint())
  }
  const { schedules, alerts } = parts.ctx.settings()
  const periodMs = stallPeriodMs(schedules.pollMs)
  const start: WatchdogStart = { shared, database, nodeId: knownId, periodMs, stallPeriods: alerts.stallPeriods }
  const worker = new Worker(thread, { workerData: start })
  heartbeat()
  worker.unref()
  const heartbeatTimer = setInterval(heartbeat, Math.floor(periodMs / 2))
  heartbeatTimer.unref()
  worker.on('message', (stall: EngineStall) => {
    log({ level: 'error', message: 'The main thread was blocked', facts: { node: stall.nodeId, alert: stall.id } })
    publishStall(parts, OPERATOR_ORG, stall)
  })
  worker.on('error', (error: unknown) => {
    log({ level: 'warn', message: 'The watchdog thread has failed', facts: { error: String(error) } })
  })
  return {
    stop: async () => {
      clearInterval(heartbeatTimer)
      await worker.terminate()
    },
  }
}
