import type { RefusalCode } from './refusals.ts'

/** One thing that is wrong with a request. */
export interface ProblemError {
  /** JSON pointer to the field of the body; for parameters of the address, `/` and the name. */
  readonly pointer: string
  /** Reads on after the field's name: "must be a whole number". */
  readonly message: string
  readonly allowed?: string | undefined
}

/** How everything that is refused is told on the wire (RFC 9457). */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: RefusalCode
  readonly request_id: string
  readonly errors?: readonly ProblemError[] | undefined
  /** The run that keeps the record of it. */
  readonly run_id?: string | undefined
  readonly details?: Readonly<Record<string, unknown>> | undefined
}
