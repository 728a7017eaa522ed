import type { OperationSpec } from '../api/operation.ts'
import { readersOf, type Readers } from '../api/read-input.ts'
import { ErrGatewayDraining, invalid } from '../api/refusals.ts'
import { admitTo } from './admit.ts'
import type { Principal } from '../domain/access/access.ts'
import type { HttpExchange } from './context.ts'
import type { Call, Operation } from './handler.ts'

const READERS = new WeakMap<OperationSpec, Readers>()

/** What reads the input of an operation. Made when first asked for: all of them together would take a tenth of a start. */
export function readersFor(spec: OperationSpec): Readers {
  const known = READERS.get(spec)
  if (known !== undefined) return known
  const made = readersOf(spec)
  READERS.set(spec, made)
  return made
}

const MAX_KEY = 512

/** Reads an idempotency key. */
export function readKey(field: string, given: unknown): string {
  const allowed = `1 to ${MAX_KEY} characters`
  if (typeof given === 'string' && given.length > 0 && given.length <= MAX_KEY) return given
  throw invalid([{ field, value: undefined, message: 'is not an idempotency key', allowed }])
}

/** What a door has read, for whatever operation. */
export interface DoorCall extends Omit<Call<OperationSpec>, 'principal' | 'params' | 'query' | 'body' | 'http'> {
  readonly principal: Principal | null
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly http: HttpExchange | null
}

/** Does something within a trace, and tells it which. */
export type Traced = (work: (trace: string | null) => unknown) => unknown

/**
 * Carries out an operation for a caller who has been admitted: refuses what the guard rails of a key do not reach, and
 * new work while the node goes down. Work that is handed in belongs to the trace.
 */
export function perform(operation: Operation, call: DoorCall, traced: Traced): unknown {
  const { principal } = call
  if (principal?.railed === undefined) return begin(operation, call, traced)
  return admitTo(call, operation, { principal, id: idIn(call.params) }).then(() => begin(operation, call, traced))
}

function begin(operation: Operation, call: DoorCall, traced: Traced): unknown {
  if (operation.newWork === true && call.ctx.isDraining()) throw new ErrGatewayDraining()
  const handle = operation.handle as (call: DoorCall) => unknown
  if (operation.admits !== true) return handle(call)
  return traced((trace) => handle(trace === null ? call : { ...call, caller: { ...call.caller, trace } }))
}

/** What an operation is about: no path names more than one thing. */
const idIn = (params: unknown): unknown => Object.values(params as Readonly<Record<string, unknown>>)[0]
