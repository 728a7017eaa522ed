import { runId } from '../domain/ids.ts'
import { isTerminal } from '../domain/run/run-machine.ts'
import { getRun } from '../service/runs-read.ts'
import type { RunView } from '../features/runs/schema.ts'
import type { Running } from './running.ts'

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
