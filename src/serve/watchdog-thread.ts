import { randomBytes } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { OPERATOR_ORG } from '../domain/access/access.ts'
import { decideStall } from '../domain/alerts.ts'
import { earlier } from '../domain/instant.ts'
import { createIdMaker } from '../engine/ids.ts'
import { saveStall, type Stall } from '../service/stalls.ts'
import { readClock } from '../platform/db/clock.ts'
import { openPostgres, type PostgresOptions } from '../platform/db/postgres/postgres.ts'

/** What the thread begins with. */
export interface WatchdogStart {
  /** When the process last did anything, by the counter that all its threads share; 0 while it goes down. */
  readonly shared: BigInt64Array
  readonly place: Pick<PostgresOptions, 'target'> & { readonly schema: string }
  readonly nodeId: string
  readonly periodMs: number
  readonly stallPeriods: number
}

const newId = createIdMaker((count) => randomBytes(count))

/** Looks once in a period whether the process has done anything. A thread that was asleep itself judges nobody. */
function watch(start: WatchdogStart): void {
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
    const beat = Atomics.load(shared, 0)
    if (busy || beat === 0n) return
    const silentMs = millisOf(now - beat)
    const isSilent = silentMs >= periodMs * stallPeriods
    // The node itself clears it: it lives again.
    if (!isSilent) raised = false
    if (!isSilent || raised || !isAwake) return
    busy = true
    void raise({ ...start, nodeId }, silentMs)
      .then((done) => {
        raised = done
      })
      .finally(() => {
        busy = false
      })
  }, periodMs)
}

const millisOf = (nanoseconds: bigint): number => Number(nanoseconds / 1_000_000n)

/** Whether it is on record now; without a database it is tried again. */
async function raise(start: WatchdogStart, silentMs: number): Promise<boolean> {
  const { place, nodeId, periodMs, stallPeriods } = start
  try {
    const database = await openPostgres({ ...place, pool: 1, applicationName: 'escapement watchdog' })
    try {
      const now = await readClock(database)
      const facts = { lastScanAt: earlier(now, silentMs), now, periodMs, stallPeriods, raised: false }
      const decision = decideStall(facts)
      if (decision.kind !== 'raise') return false
      const stall: Stall = { change: 'raised', id: newId('alert', now), nodeId, why: decision.why }
      if (await saveStall(database, OPERATOR_ORG, { stall, now })) parentPort?.postMessage(stall)
      return true
    } finally {
      await database.close()
    }
  } catch {
    return false
  }
}

watch(workerData as WatchdogStart)
