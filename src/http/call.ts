import type { FastifyReply, FastifyRequest } from 'fastify'
import type {
  Answer,
  AnswerOf,
  BodyOf,
  OperationSpec,
  OperationTable,
  ParamsOf,
  QueryOf,
} from '../contract/operation.ts'
import type { Principal } from '../core/access.ts'
import type { Caller } from '../service/caller.ts'
import type { Ports } from '../service/ports.ts'
import type { HttpContext } from './context.ts'

/** A request that has passed the gate and been read. */
export interface Call<Spec extends OperationSpec> {
  readonly ctx: HttpContext
  readonly ports: Ports
  /** As services want to know who speaks; of an operation that needs no key, the org is the operator's. */
  readonly caller: Caller
  readonly principal: Spec extends { readonly permission: 'none' } ? Principal | null : Principal
  readonly params: ParamsOf<Spec>
  readonly query: QueryOf<Spec>
  readonly body: BodyOf<Spec>
  /** The version that `If-Match` demands. */
  readonly ifMatch: number | undefined
  /** For what is more than an answer: cookies, streams. */
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Carries out an operation: calls one service function and answers with what it says. */
export type Handler<Spec extends OperationSpec> = (call: Call<Spec>) => Promise<AnswerOf<Spec>> | AnswerOf<Spec>

/** A handler for each operation of a table. */
export type HandlersOf<Table extends OperationTable> = { readonly [Id in keyof Table]: Handler<Table[Id]> }

/** An answer under one of several statuses. */
export const answer = <const Status extends number, Body>(status: Status, body: Body): Answer<Status, Body> => ({
  status,
  body,
})
