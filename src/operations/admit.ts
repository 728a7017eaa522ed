import type { OperationSpec } from '../api/operation.ts'
import { Refusal } from '../api/refusals.ts'
import {
  decideAccess,
  type AccessDecision,
  type AccessRequest,
  type Permission,
  type Principal,
} from '../domain/access/access.ts'
import { breach } from '../core/rails/breach.ts'
import { explainWhy } from '../domain/reasons.ts'
import { requireOwn } from '../service/rails/own.ts'
import { railRefusal } from '../service/rails/refusals.ts'
import type { OperationContext } from './context.ts'

/** What something says of who may do it. */
export type Needs = Pick<OperationSpec, 'permission' | 'operatorOnly' | 'approving' | 'rails'>

/** A worker has to be able to renew, start and report whatever else its key does: nothing it says is rate-limited. */
export const isOfWorkers = ({ permission }: Needs): boolean => permission === 'workers:run'

/**
 * Refuses a principal whose key is not good any more, who lacks what the operation needs, or whose guard rails do not
 * reach so far.
 */
export function admit(ctx: Pick<OperationContext, 'ports'>, spec: Needs, principal: Principal): void {
  if (principal.railed === undefined || spec.rails !== undefined || spec.permission === 'none') {
    permit(ctx, spec, principal)
    return
  }
  // A key that is not good any more is told so, whatever it wants.
  permit(ctx, { permission: 'any' }, principal)
  const message = 'A key with guard rails has no business here: its own schedules, tasks and runs are'
  throw railRefusal(breach('operation', message))
}

/** Refuses a thing that the guard rails of a key do not reach; those of an operation that is about one. */
export async function admitTo(
  ctx: Pick<OperationContext, 'ports'>,
  spec: Pick<Needs, 'rails'>,
  { principal, id }: { readonly principal: Principal; readonly id: unknown },
): Promise<void> {
  const { orgId, railed } = principal
  const { rails } = spec
  if (railed === undefined || rails === undefined || rails === 'free' || rails === 'list') return
  await requireOwn(ctx.ports, { orgId, railed }, { kind: rails, id: String(id) })
}

function permit(ctx: Pick<OperationContext, 'ports'>, spec: Needs, principal: Principal): void {
  const { permission } = spec
  if (permission === 'none') return
  // With no permission to ask for, what is left to see is whether the key is still good.
  const wanted = typeof permission === 'string' ? [permission] : permission
  let refused: Exclude<AccessDecision, { kind: 'granted' }> | null = null
  for (const one of wanted) {
    const decision = decideAccess(principal, accessTo(ctx, spec, { principal, permission: one }))
    if (decision.kind === 'granted' || (one === 'any' && decision.kind === 'denied')) return
    refused ??= decision
  }
  if (refused !== null) throw refusalOf(refused)
}

function accessTo(
  ctx: Pick<OperationContext, 'ports'>,
  { operatorOnly, approving }: Needs,
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

/** Refuses a caller who lacks a permission that only the body or the object says is needed. */
export function requirePermission(
  { ctx, principal }: { readonly ctx: Pick<OperationContext, 'ports'>; readonly principal: Principal },
  permission: Permission,
): void {
  const request = { permission, orgId: principal.orgId, now: ctx.ports.clock.now() }
  const decision = decideAccess(principal, request)
  if (decision.kind !== 'granted') throw refusalOf(decision)
}

function refusalOf(decision: Exclude<AccessDecision, { kind: 'granted' }>): Refusal {
  const { why } = decision
  const details = { reason: why.reason, rule: why.rule }
  switch (decision.kind) {
    case 'refused':
      return new Refusal('UNAUTHENTICATED', explainWhy(why), { details })
    case 'denied':
      return new Refusal('FORBIDDEN', explainWhy(why), { details: { ...details, ...why.evidence } })
    case 'hidden':
      return new Refusal('NOT_FOUND', 'There is no such thing')
  }
}
