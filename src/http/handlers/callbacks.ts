import type { callbackOperations } from '../../operations/callbacks.ts'
import { settleByToken } from '../../service/run-actions.ts'
import type { HandlersOf } from '../call.ts'

/** Results that come later. */
export const callbackHandlers: HandlersOf<typeof callbackOperations> = {
  'callbacks.settle': ({ ports, params, body }) => settleByToken(ports, params.token, body),
}
