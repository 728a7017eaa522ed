import type { Answer, AnswerOf, BodyOf, OperationSpec, ParamsOf, QueryOf } from '../api/operation.ts'
import type { Principal } from '../domain/access/access.ts'
import type { Caller, Giver } from '../service/caller.ts'
import type { Ports } from '../service/ports.ts'
import type { Eventually, HttpExchange, OperationContext } from './context.ts'

/** A request that has been admitted and read, whatever door it came through. */
export interface Call<Spec extends OperationSpec> {
  readonly ctx: OperationContext
  readonly ports: Ports
  /** As services know the caller; of an operation that needs no key, the org is the operator's. */
  readonly caller: Caller
  /** The program that embeds the library has every permission, and `caller.principal` is then null. */
  readonly principal: Spec extends { readonly permission: 'none' } ? Principal | null : Principal
  readonly params: ParamsOf<Spec>
  readonly query: QueryOf<Spec>
  readonly body: BodyOf<Spec>
  /** The version that `If-Match` demands. */
  readonly ifMatch: number | undefined
  /** Aborted when the caller is gone. A function, because most operations never ask. */
  readonly signal: () => AbortSignal
  /** Receives how far an operation with `progress` is; left out: the caller waits for the end. */
  readonly progress?: ((progress: unknown) => void) | undefined
  /** Null for doors other than HTTP. */
  readonly http: Spec extends { readonly http: true } ? HttpExchange : HttpExchange | null
}

/** What a handler passes on to what decides for several operations. */
export type Asking = Pick<Call<OperationSpec>, 'ctx' | 'ports' | 'caller' | 'principal'>

/** Who hands out permissions: the program that embeds the library has them all. */
export const giverOf = ({ caller, principal }: Pick<Asking, 'caller' | 'principal'>): Giver => ({
  ...caller,
  principal: caller.principal === null ? null : principal,
})

/** Carries out an operation: calls one service function and answers with its result. */
export type Handler<Spec extends OperationSpec> = (call: Call<Spec>) => Eventually<Returned<AnswerOf<Spec>>>

/** Where nothing is answered, what the service returns is passed over. */
type Returned<Body> = [Body] extends [undefined] ? unknown : Body

/** An operation and its handler. The type forgets what the handler takes, so that clients see the operation alone. */
export type Operation<Spec extends OperationSpec = OperationSpec> = Spec & {
  readonly handle: (call: never) => unknown
}

export type OperationTable = Readonly<Record<string, Operation>>

/**
 * Describes an operation and, with `by`, says who carries it out; without, it is none and the table refuses it. Its exact
 * type is kept: from it everybody infers what goes in and comes out.
 */
export const operation = <const Spec extends OperationSpec>(
  spec: Spec,
): { readonly by: (handle: Handler<Spec>) => Operation<Spec> } => ({ by: (handle) => ({ ...spec, handle }) })

/** An answer under one of several statuses. */
export const answer = <const Status extends number, Body>(status: Status, body: Body): Answer<Status, Body> => ({
  status,
  body,
})
