import type { AnswerBodyOf, BodyOf, ParamsOf } from '../../api/operation.ts'
import type { Principal } from '../../domain/access/access.ts'
import type { Operation } from '../../operations/handler.ts'
import { readersFor, type DoorCall } from '../../operations/perform.ts'
import { OPERATIONS, type OperationId, type Operations } from '../../operations/table.ts'
import type { Caller } from '../../service/caller.ts'
import type { HttpContext } from '../context.ts'

/** A call that has passed the gate and been read. */
export interface RpcCall<Params> {
  readonly ctx: HttpContext
  readonly caller: Caller
  readonly principal: Principal
  readonly params: Params
}

/** Carries out an operation for a call; what the operation needs of its caller, the method needed already. */
export async function ask<Id extends OperationId>(
  { ctx, caller, principal }: RpcCall<unknown>,
  id: Id,
  given: { readonly params: ParamsOf<Operations[Id]>; readonly body?: BodyOf<Operations[Id]> },
): Promise<AnswerBodyOf<Operations[Id]>> {
  const operation: Operation = OPERATIONS[id]
  const { params, body } = readersFor(operation)
  const call: DoorCall = {
    ...{ ctx, ports: ctx.ports, caller, principal, ifMatch: undefined, http: null },
    ...{ params: params?.(given.params) ?? {}, query: {}, body: body?.(given.body) },
    signal: () => new AbortController().signal,
  }
  return await (operation.handle as (call: DoorCall) => Promise<AnswerBodyOf<Operations[Id]>>)(call)
}
