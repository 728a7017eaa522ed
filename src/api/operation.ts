import type { z } from 'zod'
import type { Permission } from '../domain/access/access.ts'
import type { RefusalCode } from './refusals.ts'
import type { Shape } from '../contract/shape.ts'

/**
 * What a key with guard rails may do with an operation: `free` concerns nobody's objects, `list` shows or makes its own
 * only, and the others are about one thing, which must be its own: a `schedule`, a `run` or a `session`.
 */
export type RailsDoor = 'free' | 'list' | 'schedule' | 'run' | 'session'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An answer that is no JSON: a stream of events, a page. */
export interface MediaAnswer {
  readonly contentType: string
  readonly description: string
  /** The shape of each thing in it, where it is made of things. */
  readonly each?: z.ZodType
}

/** What can be answered under a status: a shape, something that is no JSON, or nothing. */
export type AnswerSpec = z.ZodType | MediaAnswer | null

/** One operation of the API. Routes, OpenAPI, client, commands and the tests of all of them are made from these. */
export interface OperationSpec {
  readonly method: Method
  /** With parameters as `:id`. */
  readonly path: string
  readonly tag: string
  /** One line; reads as what it does. */
  readonly summary: string
  readonly description?: string
  /**
   * What its caller must hold. Of a list, one is enough to be let in, and the handler decides; `any` needs a key or a
   * session but no permission; `none` needs neither.
   */
  readonly permission: Permission | readonly Permission[] | 'any' | 'none'
  /** Only the operator's owners and admins. */
  readonly operatorOnly?: true
  /** Where nobody but this machine can ask and there is one org, nobody has to say who they are. */
  readonly openInPrivate?: true
  /** Only owners and admins of the org. */
  readonly approving?: true
  /** Left out: keys with guard rails are refused. */
  readonly rails?: RailsDoor
  /**
   * Speaks as clients of PinchTab's scheduler know it: refusals have the shape of `TaskError`, what nobody knows is passed
   * over, the body is JSON whatever its header says, and none of it is there while `tasks.enabled` is false.
   */
  readonly facade?: true
  /** Makes something: `Idempotency-Key` is honoured. */
  readonly creates?: true
  /** The body is handed over as it came, because its signature is of its very bytes. The schema only describes it. */
  readonly raw?: true
  /** Cannot do without the request itself: cookies, signatures, streams. No door but HTTP has it. */
  readonly http?: true
  /** Is about the server itself: a program that embeds the engine has options instead, and no API to describe. */
  readonly serverOnly?: true
  /** Tells how far it is: over HTTP as events, for those who accept a stream. */
  readonly progress?: true
  /** Brings work: a node that goes down refuses it. */
  readonly newWork?: true
  /** Hands in what becomes a run: it belongs to the trace of the request. */
  readonly admits?: true
  /** Of something with a version: the answer has an `ETag`, and what changes it honours `If-Match`. */
  readonly etag?: true
  readonly params?: z.ZodType
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  /** An empty body means an empty object. */
  readonly bodyOptional?: true
  /** By status. With more than one of them the handler says which. */
  readonly answers: Readonly<Record<number, AnswerSpec>>
  /** What it may be refused with beside what everything may be refused with. */
  readonly refusals?: readonly RefusalCode[]
  /** `query` is shown in the address, where nothing can be asked without one. */
  readonly examples?: { readonly body?: unknown; readonly answer?: unknown; readonly query?: string }
}

export type OperationTable = Readonly<Record<string, OperationSpec>>

type OutputOf<Schema> = Schema extends z.ZodType ? Shape<Schema> : undefined
/** No fields at all. */
type Nothing = Readonly<Record<string, never>>
type FieldOf<Spec, Name extends string, Otherwise> =
  Spec extends Readonly<Record<Name, infer Schema>> ? OutputOf<Schema> : Otherwise

/** The parameters of an operation's path. */
export type ParamsOf<Spec> = FieldOf<Spec, 'params', Nothing>

/** The query of an operation. */
export type QueryOf<Spec> = FieldOf<Spec, 'query', Nothing>

/** The body of an operation. */
export type BodyOf<Spec> = FieldOf<Spec, 'body', undefined>

type StatusOf<Spec extends OperationSpec> = keyof Spec['answers'] & number
type IsOne<Union, Whole = Union> = Union extends unknown ? ([Whole] extends [Union] ? true : false) : never

/** An answer under one of several statuses. */
export interface Answer<Status extends number, Body> {
  readonly status: Status
  readonly body: Body
}

/** The body that is answered, whatever the status. */
export type AnswerBodyOf<Spec extends OperationSpec> = OutputOf<Spec['answers'][StatusOf<Spec>]>

/** What the handler of an operation answers: the body, or, where there are several statuses, the status with it. */
export type AnswerOf<Spec extends OperationSpec> =
  IsOne<StatusOf<Spec>> extends true
    ? AnswerBodyOf<Spec>
    : { [Status in StatusOf<Spec>]: Answer<Status, OutputOf<Spec['answers'][Status]>> }[StatusOf<Spec>]
