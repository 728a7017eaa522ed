import { randomBytes } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { OPERATOR_ORG } from '../domain/access/access.ts'
import { decideStall } from '../domain/alerts.ts'
import { earlier } from '../domain/instant.ts'
import { createIdGenerator } from '../engine/ids.ts'
import { saveStallAlert, type EngineStall } from '../features/nodes/service.ts'
import { readClock } from '../platform/db/clock.ts'
import { openPostgres, type PostgresOptions } from '../platform/db/postgres/postgres.ts'

/** The start parameters of the thread. */
export interface WatchdogStart {
  /** The last heartbeat of the main thread, in nanoseconds of the shared clock; 0 while draining. */
  readonly shared: BigInt64Array
  readonly database: Pick<PostgresOptions, 'target'> & { readonly schema: string }
  readonly nodeId: string
  readonly periodMs: number
  readonly stallPeriods: number
}

const newId = createIdGenerator((count) => randomBytes(count))

/** Checks the heartbeat once per period. Skips a check if the thread itself was suspended. */
function watchHeartbeat(start: WatchdogStart): void {
  const { shared, periodMs, stallPeriods } = start
  let { nodeId } = start
  parentPort?.on('message', (name: string) => {
    nodeId = name
  })
  let lastLook = process.hrtime.bigint()
  let raised = false
  let busy = false
  setInterval(() => {
    const now = process.hrtime.bigint()
    const isAwake = millisOf(now - lastLook) < 2 * periodMs
    lastLook = now
    const lastHeartbeat = Atomics.load(shared, 0)
    if (busy || lastHeartbeat === 0n) return
    const silentMs = millisOf(now - lastHeartbeat)
    const isSilent = silentMs >= periodMs * stallPeriods
    // The node itself clears the alert when it recovers.
    if (!isSilent) raised = false
    if (!isSilent || raised || !isAwake) return
    busy = true
    void raiseStallAlert({ ...start, nodeId }, silentMs)
      .then((done) => {
        raised = done
      })
      .finally(() => {
        busy = false
      })
  }, periodMs)
}

const millisOf = (nanoseconds: bigint): number => Number(nanoseconds / 1_000_000n)

/** Raises the alert. False: not saved, for example without a database, so it is retried. */
async function raiseStallAlert(start: WatchdogStart, silentMs: number): Promise<boolean> {
  const { database: place, nodeId, periodMs, stallPeriods } = start
  try {
    const database = await openPostgres({ ...place, pool: 1, applicationName: 'escapement watchdog' })
    try {
      const now = await readClock(database)
      const facts = { lastScanAt: earlier(now, silentMs), now, periodMs, stallPeriods, raised: false }
      const decision = decideStall(facts)
      if (decision.kind !== 'raise') return false
      const stall: EngineStall = { change: 'raised', id: newId('alert', now), nodeId, why: decision.why }
      if (await saveStallAlert(database, OPERATOR_ORG, { stall, now })) parentPort?.postMessage(stall)
      return true
    } finally {
      await database.close()
    }
  } catch {
    return false
  }
}

watchHeartbeat(workerData as WatchdogStart)
