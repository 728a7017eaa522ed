import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs, RECONNECT_BACKOFF } from '../backoff.ts'
import { type Reference } from './reference.ts'
import { joinOrStart, type RunningContext } from './running.ts'

export interface Keeper {
  /** The reference that is held, or will be once the server is back; `undefined` if it was given up. */
  readonly current: () => Promise<Reference | undefined>
}

/**
 * Keeps this process joined. An embedded server has nobody else to look after it: when the reference breaks because the
 * server died, it is started again; when only the connection broke, it is joined again.
 */
export function keepJoined(ctx: RunningContext, first: Reference, random: () => number): Keeper {
  let current: Promise<Reference | undefined> = Promise.resolve(first)
  const watch = (reference: Reference): void => {
    reference.client.once('end', () => {
      if (ctx.signal.aborted) return
      ctx.tell({ kind: 'lost', message: 'The embedded PostgreSQL is away' })
      current = rejoin(ctx, random).then((again) => {
        if (again !== undefined) watch(again)
        return again
      })
    })
  }
  watch(first)
  return { current: () => current }
}

async function rejoin(ctx: RunningContext, random: () => number): Promise<Reference | undefined> {
  for (let failures = 1; !ctx.signal.aborted; failures += 1) {
    try {
      const reference = await joinOrStart(ctx)
      ctx.tell({ kind: 'returned', message: 'The embedded PostgreSQL is back' })
      return reference
    } catch (error) {
      ctx.tell({ kind: 'still_away', message: error instanceof Error ? error.message : String(error) })
      const wait = backoffMs(failures, random(), RECONNECT_BACKOFF)
      await sleep(wait, undefined, { signal: ctx.signal, ref: false }).catch(() => undefined)
    }
  }
  return undefined
}
