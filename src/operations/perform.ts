import type { OperationSpec } from '../api/operation.ts'
import { type Readers, readersOf } from '../api/read-input.ts'
import { ErrGatewayDraining, invalid, Refusal } from '../api/refusals.ts'
import {
  type AccessDecision,
  type AccessRequest,
  decideAccess,
  type Permission,
  type Principal,
} from '../domain/access/access.ts'
import { breach } from '../domain/access/restrictions.ts'
import { explainWhy } from '../domain/reasons.ts'
import { restrictionRefusal, requireOwn } from '../features/access/restrictions.ts'
import type { HttpExchange, OperationContext } from './context.ts'
import type { Call, Operation } from './handler.ts'

/** The access requirements of an operation. */
export type AccessRules = Pick<OperationSpec, 'permission' | 'operatorOnly' | 'approving' | 'restrictedAccess'>

/** Calls of workers are not rate-limited, because a worker must always be able to renew, start and report. */
export const isWorkerCall = ({ permission }: AccessRules): boolean => permission === 'workers:run'

/** Rejects a principal whose key is invalid, that lacks the permission, or whose restrictions exclude the operation. */
export function admit(ctx: Pick<OperationContext, 'ports'>, spec: AccessRules, principal: Principal): void {
  if (principal.restricted === undefined || spec.restrictedAccess !== undefined || spec.permission === 'none') {
    requireAccess(ctx, spec, principal)
    return
  }
  // An invalid key is reported first, whatever the operation.
  requireAccess(ctx, { permission: 'any' }, principal)
  const message = 'A restricted key cannot use this operation; it can use its own schedules, tasks and runs'
  throw restrictionRefusal(breach('operation', message))
}

/** Rejects an object that the restrictions of a key exclude, for operations about one object. */
export async function admitToObject(
  ctx: Pick<OperationContext, 'ports'>,
  spec: Pick<AccessRules, 'restrictedAccess'>,
  { principal, id }: { readonly principal: Principal; readonly id: unknown },
): Promise<void> {
  const { orgId, restricted } = principal
  const { restrictedAccess } = spec
  if (
    restricted === undefined ||
    restrictedAccess === undefined ||
    restrictedAccess === 'free' ||
    restrictedAccess === 'list'
  )
    return
  await requireOwn(ctx.ports, { orgId, restricted }, { kind: restrictedAccess, id: String(id) })
}

function requireAccess(ctx: Pick<OperationContext, 'ports'>, spec: AccessRules, principal: Principal): void {
  const { permission } = spec
  if (permission === 'none') return
  // Without a required permission, only the validity of the key is checked.
  const permissions = typeof permission === 'string' ? [permission] : permission
  let refused: Exclude<AccessDecision, { kind: 'granted' }> | null = null
  for (const one of permissions) {
    const decision = decideAccess(principal, accessRequestOf(ctx, spec, { principal, permission: one }))
    if (decision.kind === 'granted' || (one === 'any' && decision.kind === 'denied')) return
    refused ??= decision
  }
  if (refused !== null) throw accessRefusal(refused)
}

function accessRequestOf(
  ctx: Pick<OperationContext, 'ports'>,
  { operatorOnly, approving }: AccessRules,
  of: { readonly principal: Principal; readonly permission: Permission | 'any' },
): AccessRequest {
  return {
    permission: of.permission === 'any' ? 'schedules:read' : of.permission,
    orgId: of.principal.orgId,
    now: ctx.ports.clock.now(),
    operatorOnly: operatorOnly === true,
    approving: approving === true,
  }
}

/** Rejects a caller without a permission that depends on the body or the object. */
export function requirePermission(
  { ctx, principal }: { readonly ctx: Pick<OperationContext, 'ports'>; readonly principal: Principal },
  permission: Permission,
): void {
  const request = { permission, orgId: principal.orgId, now: ctx.ports.clock.now() }
  const decision = decideAccess(principal, request)
  if (decision.kind !== 'granted') throw accessRefusal(decision)
}

function accessRefusal(decision: Exclude<AccessDecision, { kind: 'granted' }>): Refusal {
  const { why } = decision
  const details = { reason: why.reason, rule: why.rule }
  switch (decision.kind) {
    case 'refused':
      return new Refusal('UNAUTHENTICATED', explainWhy(why), { details })
    case 'denied':
      return new Refusal('FORBIDDEN', explainWhy(why), { details: { ...details, ...why.evidence } })
    case 'hidden':
      return new Refusal('NOT_FOUND', 'Not found')
  }
}

const READERS = new WeakMap<OperationSpec, Readers>()

/**
 * The input readers of an operation. Created on first use, because creating all of them would take a tenth of the
 * startup time.
 */
export function readersFor(spec: OperationSpec): Readers {
  const known = READERS.get(spec)
  if (known !== undefined) return known
  const created = readersOf(spec)
  READERS.set(spec, created)
  return created
}

const MAX_IDEMPOTENCY_KEY_LENGTH = 512

/** Reads an idempotency key. */
export function readKey(field: string, given: unknown): string {
  const allowed = `1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} characters`
  if (typeof given === 'string' && given.length > 0 && given.length <= MAX_IDEMPOTENCY_KEY_LENGTH) return given
  throw invalid([{ field, value: undefined, message: 'is not an idempotency key', allowed }])
}

/** The call of any operation, as a transport reads it. */
export interface OperationCall extends Omit<Call<OperationSpec>, 'principal' | 'params' | 'query' | 'body' | 'http'> {
  readonly principal: Principal | null
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly http: HttpExchange | null
}

/** Runs a function within a trace and passes the trace to it. */
export type TraceRunner = (submit: (trace: string | null) => unknown) => unknown

/**
 * Executes an operation for an admitted caller: rejects objects outside the restrictions of a key, and new work while
 * the node drains. Submitted work belongs to the trace.
 */
export function executeOperation(operation: Operation, call: OperationCall, traced: TraceRunner): unknown {
  const { principal } = call
  if (principal?.restricted === undefined) return runHandler(operation, call, traced)
  return admitToObject(call, operation, { principal, id: objectIdOf(call.params) }).then(() =>
    runHandler(operation, call, traced),
  )
}

function runHandler(operation: Operation, call: OperationCall, traced: TraceRunner): unknown {
  if (operation.newWork === true && call.ctx.isDraining()) throw new ErrGatewayDraining()
  const handle = operation.handle as (call: OperationCall) => unknown
  if (operation.admits !== true) return handle(call)
  return traced((trace) => handle(trace === null ? call : { ...call, caller: { ...call.caller, trace } }))
}

/** The id of the object an operation is about; no path of an operation with restrictions has more than one. */
const objectIdOf = (params: unknown): unknown => Object.values(params as Readonly<Record<string, unknown>>)[0]
