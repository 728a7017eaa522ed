import type { Principal } from '../../core/access.ts'
import type { Caller } from '../../service/caller.ts'
import type { HttpContext } from '../context.ts'

/** A call that has passed the gate and been read. */
export interface RpcCall<Params> {
  readonly ctx: HttpContext
  readonly caller: Caller
  readonly principal: Principal
  readonly params: Params
}
