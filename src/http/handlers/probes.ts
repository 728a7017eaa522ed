import { asCodeSchema } from '../../contract/as-code-schema.ts'
import { openApiOf } from '../../contract/openapi.ts'
import type { probeOperations } from '../../operations/probes.ts'
import { OPERATIONS } from '../../operations/table.ts'
import { answer, type HandlersOf } from '../call.ts'

let document: ReturnType<typeof openApiOf> | null = null
let schema: ReturnType<typeof asCodeSchema> | null = null

/** How the process is, and what it speaks. */
export const probeHandlers: HandlersOf<typeof probeOperations> = {
  'probes.health': () => ({ status: 'ok' }),
  'probes.ready': ({ ctx }) => {
    const health = ctx.health()
    return health.ready ? answer(200, health) : answer(503, health)
  },
  'probes.version': ({ ctx }) => ({ name: 'escapement', version: ctx.version }),
  // It never changes while the program runs, and making it takes a while.
  'probes.openapi': ({ ctx }) => (document ??= openApiOf(OPERATIONS, ctx.version)),
  'probes.fileSchema': () => (schema ??= asCodeSchema()),
}
