import type { AnswerBodyOf, BodyOf, MediaAnswer, OperationSpec, ParamsOf, QueryOf } from '../api/operation.ts'
import type { OperationId, Operations } from '../operations/table.ts'

/** Options of a call, beside its input. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** How long to wait for the response; 30 seconds by default, and longer where the server is asked to wait. */
  readonly timeoutMs?: number | undefined
  /** Generated for every creating call unless given. Pass it again to repeat a call whose response was lost. */
  readonly idempotencyKey?: string | undefined
  /** The version to update; the call is rejected with `STALE_VERSION` if the object has changed since. */
  readonly ifMatch?: number | undefined
}

type IsOne<Union, Whole = Union> = Union extends unknown ? ([Whole] extends [Union] ? true : false) : never

type HasParams<Spec> = Spec extends { readonly params: unknown } ? true : false
type HasQuery<Spec> = Spec extends { readonly query: unknown } ? true : false
/** With a body, or if it is optional, the query is part of the options. */
type HasQueryOption<Spec> = Spec extends { readonly query: unknown; readonly optionalQuery: true }
  ? true
  : HasBody<Spec> extends true
    ? HasQuery<Spec>
    : false
type HasQueryArgument<Spec> = HasQueryOption<Spec> extends true ? false : HasQuery<Spec>
type HasBody<Spec> = Spec extends { readonly body: unknown } ? true : false

/** A single path parameter is passed as is; several are passed as an object. */
type ParamArgs<Spec> =
  HasParams<Spec> extends true
    ? IsOne<keyof ParamsOf<Spec>> extends true
      ? [id: string]
      : [params: ParamsOf<Spec>]
    : []

type MayBeLeftOut<Input> = Partial<Input> extends Input ? true : false

type InputArgs<Spec> =
  HasBody<Spec> extends true
    ? Spec extends { readonly bodyOptional: true }
      ? [body?: BodyOf<Spec> | undefined]
      : [body: BodyOf<Spec>]
    : HasQueryArgument<Spec> extends true
      ? MayBeLeftOut<QueryOf<Spec>> extends true
        ? [query?: QueryOf<Spec> | undefined]
        : [query: QueryOf<Spec>]
      : []

type OptionsOf<Spec> =
  HasQueryOption<Spec> extends true ? CallOptions & { readonly query?: QueryOf<Spec> | undefined } : CallOptions

/** One operation as a function: path parameters, the body or else the query, and options. */
export type CallOf<Spec extends OperationSpec> = (
  ...args: [...ParamArgs<Spec>, ...InputArgs<Spec>, options?: OptionsOf<Spec> | undefined]
) => Promise<AnswerBodyOf<Spec>>

type IsStream<Spec extends OperationSpec> =
  Extract<Spec['answers'][keyof Spec['answers']], MediaAnswer> extends never ? false : true

type GroupOf<Id> = Id extends `${infer Group}.${string}` ? Group : never
type NameIn<Group extends string, Id> = Id extends `${Group}.${infer Name}` ? Name : never

type SpecOf<Group extends string, Name extends string> = `${Group}.${Name}` extends infer Id extends OperationId
  ? Operations[Id]
  : never

/** Operations as functions: `<group>.<name>(…)` for the operation `<group>.<name>`. */
export type CallsOf<Ids extends OperationId> = {
  readonly [Group in GroupOf<Ids>]: {
    readonly [Name in NameIn<Group, Ids>]: CallOf<SpecOf<Group, Name>>
  }
}

type JsonId = { [Id in OperationId]: IsStream<Operations[Id]> extends true ? never : Id }[OperationId]

/** Every operation whose response is JSON or empty. */
export type Calls = CallsOf<JsonId>

type NeedsServer = { readonly http: true } | { readonly serverOnly: true }

/** The operations that need no server. */
export type CallsInProcess = CallsOf<{ [Id in JsonId]: Operations[Id] extends NeedsServer ? never : Id }[JsonId]>
