import type { Answer, AnswerOf, BodyOf, OperationSpec, ParamsOf, QueryOf } from '../api/operation.ts'
import type { Principal } from '../domain/access/access.ts'
import { runId } from '../domain/ids.ts'
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

/**
 * Reads something about a run, and waits first until the run has ended, the time is up, the caller has disconnected or
 * the node shuts down. Events say when, what is stored is the answer; a run that this node knows as pending is not read
 * before it has ended.
 */
export async function readAfterEnd<T>(
  { ctx, caller, signal }: Pick<Call<OperationSpec>, 'ctx' | 'caller' | 'signal'>,
  id: string,
  of: {
    readonly seconds: number | undefined
    readonly read: () => Promise<T>
    readonly hasEnded: (read: T) => boolean
  },
): Promise<T> {
  const { seconds = 0, read, hasEnded } = of
  if (seconds === 0) return read()
  const { promise, give } = ctx.ended(runId(id))
  const isPending = ctx.live.stateOf(caller.orgId, runId(id)) !== undefined
  const timer = setTimeout(give, seconds * 1_000)
  const disconnected = signal()
  disconnected.addEventListener('abort', give)
  try {
    if (!isPending) {
      const before = await read()
      if (hasEnded(before)) return before
    }
    if (disconnected.aborted) give()
    // A node that shuts down gives up waiting; what is stored is still the answer.
    await promise.catch(() => undefined)
    return await read()
  } finally {
    clearTimeout(timer)
    disconnected.removeEventListener('abort', give)
    give()
  }
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
