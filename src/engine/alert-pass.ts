import { createLatePass } from './lateness.ts'
import { createStallPass, type StallContext } from './stall.ts'

/** Looks whether engines stand still and runs are late. */
export function createAlertPass(ctx: StallContext): () => Promise<void> {
  const [stallPass, latePass] = [createStallPass(ctx), createLatePass(ctx.parts)]
  return async () => {
    await stallPass()
    // A turn may be what the engine stands still for, and whoever looks for that must not wait for one.
    void latePass().catch(ctx.parts.health.failed)
  }
}
