import type { z } from 'zod'
import type { Permission } from '../domain/access/access.ts'
import type { RefusalCode } from './refusals.ts'
import type { Shape } from './fields.ts'

/**
 * What a restricted key may do with an operation: `free` does not depend on ownership, `list` lists or creates only
 * objects of the key, and the others are about one object that must belong to the key: a `schedule`, a `run` or a
 * `session`.
 */
export type RestrictedAccess = 'free' | 'list' | 'schedule' | 'run' | 'session'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A response that is not JSON: an event stream, a page. */
export interface MediaAnswer {
  readonly contentType: string
  readonly description: string
  /** The schema of each item, if the response consists of items. */
  readonly each?: z.ZodType
}

/** The response of one status: a schema, a response that is not JSON, or an empty body. */
export type AnswerSpec = z.ZodType | MediaAnswer | null

/** One operation of the API. Routes, OpenAPI, the client, CLI commands and their tests are derived from these. */
export interface OperationSpec {
  readonly method: Method
  /** With parameters as `:id`. */
  readonly path: string
  readonly tag: string
  /** One line that starts with a verb. */
  readonly summary: string
  readonly description?: string
  /**
   * The permission the caller needs. For a list, one of them is enough to be admitted, and the handler decides the
   * rest; `any` needs a key or a session but no permission; `none` needs neither.
   */
  readonly permission: Permission | readonly Permission[] | 'any' | 'none'
  /** Restricted to owners and admins of the operator's org. */
  readonly operatorOnly?: true
  /** Needs no key if the server only listens on loopback and there is one org. */
  readonly openInPrivate?: true
  /** Restricted to owners and admins of the org. */
  readonly approving?: true
  /** If omitted, restricted keys are rejected. */
  readonly restrictedAccess?: RestrictedAccess
  /**
   * Follows the protocol of PinchTab's scheduler: errors have the shape of `TaskError`, unknown query parameters are
   * ignored, the body is JSON whatever its content type says, and the routes do not exist while `tasks.enabled` is
   * false.
   */
  readonly facade?: true
  /** Creates an object: honors `Idempotency-Key`. */
  readonly creates?: true
  /**
   * The body is passed to the handler as raw bytes, because its signature covers the bytes. The schema only describes
   * it.
   */
  readonly raw?: true
  /** Needs the HTTP request itself: cookies, signatures, streams. Not available over RPC, MCP or in process. */
  readonly http?: true
  /** Concerns the server itself: a program that embeds the engine has options instead, and no API to describe. */
  readonly serverOnly?: true
  /** Reports progress: over HTTP as events, for clients that accept a stream. */
  readonly progress?: true
  /** Submits new work: a draining node rejects it. */
  readonly newWork?: true
  /** Creates a run that belongs to the trace of the request. */
  readonly admits?: true
  /** The object has a version: the response has an `ETag`, and updates honor `If-Match`. */
  readonly etag?: true
  readonly params?: z.ZodType
  readonly query?: z.ZodType
  /** Clients pass the query in the options, as they do beside a body: calls without it keep their signature. */
  readonly optionalQuery?: true
  readonly body?: z.ZodType
  /** An empty body means an empty object. */
  readonly bodyOptional?: true
  /** By status. If there are several, the handler chooses one. */
  readonly answers: Readonly<Record<number, AnswerSpec>>
  /** Error codes of this operation, in addition to those that every operation has. */
  readonly refusals?: readonly RefusalCode[]
  /** `query` is used in the example URL of operations that require a query. */
  readonly examples?: { readonly body?: unknown; readonly answer?: unknown; readonly query?: string }
}

export type OperationTable = Readonly<Record<string, OperationSpec>>

type OutputOf<Schema> = Schema extends z.ZodType ? Shape<Schema> : undefined
/** An object without fields. */
type NoFields = Readonly<Record<string, never>>
type FieldOf<Spec, Name extends string, Otherwise> =
  Spec extends Readonly<Record<Name, infer Schema>> ? OutputOf<Schema> : Otherwise

/** The parameters of an operation's path. */
export type ParamsOf<Spec> = FieldOf<Spec, 'params', NoFields>

/** The query of an operation. */
export type QueryOf<Spec> = FieldOf<Spec, 'query', NoFields>

/** The body of an operation. */
export type BodyOf<Spec> = FieldOf<Spec, 'body', undefined>

type StatusOf<Spec extends OperationSpec> = keyof Spec['answers'] & number
type IsOne<Union, Whole = Union> = Union extends unknown ? ([Whole] extends [Union] ? true : false) : never

/** A response with one of several statuses. */
export interface Answer<Status extends number, Body> {
  readonly status: Status
  readonly body: Body
}

/** The response body, for any status. */
export type AnswerBodyOf<Spec extends OperationSpec> = OutputOf<Spec['answers'][StatusOf<Spec>]>

/** What the handler of an operation returns: the body, or the status and the body if there are several statuses. */
export type AnswerOf<Spec extends OperationSpec> =
  IsOne<StatusOf<Spec>> extends true
    ? AnswerBodyOf<Spec>
    : { [Status in StatusOf<Spec>]: Answer<Status, OutputOf<Spec['answers'][Status]>> }[StatusOf<Spec>]
