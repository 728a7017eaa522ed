import { runId } from '../core/ids.ts'
import { isTerminal } from '../core/run/run-machine.ts'
import type { Escapement } from '../escapement.ts'
import { explainRun } from '../service/explain/run.ts'
import { readLineage } from '../service/rails/lineage.ts'
import { findRuns, getRun, getRunDetail } from '../service/runs-read.ts'
import { cancelRunById, retryRun, settleByToken } from '../service/run-actions.ts'
import { draftSchedule, proposeSchedule } from '../service/schedule-draft.ts'
import type { Drafter } from '../service/schedule-thread.ts'
import type { RunView } from '../contract/run.ts'
import type { Running } from './running.ts'

/** Runs: to look at, to end, to repeat, to wait for. */
export function runsOf(running: () => Running): Escapement['runs'] {
  return {
    get: async (id) => {
      const { app, orgId } = running()
      return getRunDetail(app.ports, { orgId, id }, app.live)
    },
    list: async (filter) => findRuns(running().app.ports, { orgId: running().orgId }, filter),
    cancel: async (id) => {
      const { app, orgId, caller } = running()
      await cancelRunById(app.ports, caller, id)
      return getRun(app.ports, orgId, id)
    },
    retry: async (id, options = {}) => {
      const { app, orgId, admitting, refuseWhileDraining } = running()
      refuseWhileDraining()
      const made = await retryRun(app.ports, admitting(), { id, force: options.force ?? false })
      return getRun(app.ports, orgId, made)
    },
    schedule: async (id, choices = {}) => draftSchedule(running().app.ports, drafter(running()), { id, choices }),
    proposal: async (id) => proposeSchedule(running().app.ports, drafter(running()), id),
    explain: async (id) => {
      const { app, caller } = running()
      return explainRun(app.ports, caller, { id, live: app.live })
    },
    lineage: async (id, filter) => readLineage(running().app.ports, { orgId: running().orgId, id }, filter),
    wait: async (id, options = {}) => waitForRun(running(), id, options.timeoutMs ?? null),
    callback: async (token, result) => settleByToken(running().app.ports, token, result),
  }
}

/** The program that embeds us sees everything. */
const drafter = ({ caller }: Running): Drafter => ({ ...caller, may: () => true })

/** Waits until the run has ended. Events say when to look; the record says what there is to see. */
export async function waitForRun(
  { app, orgId, waiters }: Running,
  id: string,
  timeoutMs: number | null,
): Promise<RunView> {
  const { counter } = app.parts.ctx.clock
  const began = counter()
  for (;;) {
    const { promise, give } = waiters.ended(runId(id))
    try {
      const now = await getRun(app.ports, orgId, id)
      if (isTerminal(now.status)) return now
      const leftMs = timeoutMs === null ? null : Math.max(0, timeoutMs - (counter() - began))
      await withTimeout(promise, leftMs, `Run ${id} has not ended within ${timeoutMs ?? 0} ms`)
    } finally {
      give()
    }
  }
}

async function withTimeout(promise: Promise<void>, ms: number | null, message: string): Promise<void> {
  if (ms === null) {
    await promise
    return
  }
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(message))
    }, ms)
  })
  try {
    await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
