import type { explainOperations } from '../../operations/explain.ts'
import { isPermitted, type Principal } from '../../core/access.ts'
import type { Caller } from '../../service/caller.ts'
import { explainAsked } from '../../service/explain/ask.ts'
import type { Asker } from '../../service/explain/occurrence.ts'
import type { HandlersOf } from '../call.ts'
import type { HttpContext } from '../context.ts'

/** Who asks for an explanation, and how much of it they may see. */
export const askerOf = (call: {
  readonly ctx: HttpContext
  readonly caller: Caller
  readonly principal: Principal
}): Asker => ({
  ...call.caller,
  may: (permission) => isPermitted(call.principal, permission),
  live: call.ctx.live,
})

/** Why something did, or did not, happen. */
export const explainHandlers: HandlersOf<typeof explainOperations> = {
  'explain.ask': (call) => explainAsked(call.ports, askerOf(call), call.query),
}
