import { createLatePass } from './lateness.ts'
import { createStallPass, type StallContext } from './stall.ts'

/** Looks whether engines stand still and runs are late. */
export function createAlertPass(ctx: StallContext): () => Promise<void> {
  const [stallPass, latePass] = [createStallPass(ctx), createLatePass(ctx.parts)]
  return async () => {
    await stallPass()
    latePass()
  }
}
