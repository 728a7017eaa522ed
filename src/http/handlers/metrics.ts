import type { metricsOperations } from '../../operations/metrics.ts'
import type { HandlersOf } from '../call.ts'

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Numbers that can be watched. */
export const metricsHandlers: HandlersOf<typeof metricsOperations> = {
  'metrics.get': async ({ ctx, reply }) => {
    const text = await ctx.metrics.show()
    await reply.code(200).header('content-type', METRICS_TYPE).header('cache-control', 'no-store').send(text)
    return undefined
  },
}
