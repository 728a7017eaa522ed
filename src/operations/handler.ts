import type { Answer, AnswerOf, BodyOf, OperationSpec, ParamsOf, QueryOf } from '../api/operation.ts'
import type { Principal } from '../domain/access/access.ts'
import type { Caller, Grantor } from '../features/access/caller.ts'
import type { Ports } from '../engine/ports.ts'
import type { Eventually, HttpExchange, OperationContext } from './context.ts'

/** An authorized and validated request, from any transport. */
export interface Call<Spec extends OperationSpec> {
  readonly ctx: OperationContext
  readonly ports: Ports
  /** The caller as services see it; for an operation that needs no key, its org is the operator's. */
  readonly caller: Caller
  /** An embedding program has every permission, and `caller.principal` is then null. */
  readonly principal: Spec extends { readonly permission: 'none' } ? Principal | null : Principal
  readonly params: ParamsOf<Spec>
  readonly query: QueryOf<Spec>
  readonly body: BodyOf<Spec>
  /** The version that `If-Match` requires. */
  readonly ifMatch: number | undefined
  /** Aborted when the caller disconnects. A function, because most operations never need it. */
  readonly signal: () => AbortSignal
  /** Receives the progress of an operation with `progress`; undefined if the caller waits for the result only. */
  readonly progress?: ((progress: unknown) => void) | undefined
  /** Null for transports other than HTTP. */
  readonly http: Spec extends { readonly http: true } ? HttpExchange : HttpExchange | null
}

/** What a handler passes to code shared by several operations. */
export type CallIdentity = Pick<Call<OperationSpec>, 'ctx' | 'ports' | 'caller' | 'principal'>

/** The caller that grants permissions; an embedding program has them all. */
export const granterOf = ({ caller, principal }: Pick<CallIdentity, 'caller' | 'principal'>): Grantor => ({
  ...caller,
  principal: caller.principal === null ? null : principal,
})

/** Executes an operation: calls one service function and returns its result. */
export type Handler<Spec extends OperationSpec> = (call: Call<Spec>) => Eventually<Returned<AnswerOf<Spec>>>

/** If the response is empty, the result of the service is ignored. */
type Returned<Body> = [Body] extends [undefined] ? unknown : Body

/** An operation and its handler. The type hides what the handler takes, so that clients only see the operation. */
export type Operation<Spec extends OperationSpec = OperationSpec> = Spec & {
  readonly handle: (call: never) => unknown
}

export type OperationTable = Readonly<Record<string, Operation>>

/**
 * Declares an operation; `by` adds its handler, without which the table rejects it. The exact type is kept, because the
 * types of requests and responses are inferred from it.
 */
export const operation = <const Spec extends OperationSpec>(
  spec: Spec,
): { readonly by: (handle: Handler<Spec>) => Operation<Spec> } => ({ by: (handle) => ({ ...spec, handle }) })

/** A response with one of several statuses. */
export const answer = <const Status extends number, Body>(status: Status, body: Body): Answer<Status, Body> => ({
  status,
  body,
})
