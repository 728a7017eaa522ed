import type { Explanation, ExplainQuery } from './schema.ts'
import { invalid } from '../../api/refusals.ts'
import type { Permission } from '../../domain/access/access.ts'
import { explainTime } from './time.ts'
import type { ExplainCaller, ExplainPorts } from './occurrence.ts'
import { explainObject } from './thing.ts'

/** The only permissions that count for a restricted key, whatever its role permits. */
const RESTRICTED_PERMISSIONS: readonly Permission[] = ['schedules:read', 'runs:read']

const asRestrictedCaller = (caller: ExplainCaller): ExplainCaller =>
  caller.restricted === undefined
    ? caller
    : { ...caller, may: (permission) => RESTRICTED_PERMISSIONS.includes(permission) && caller.may(permission) }

/** Explains one object by its id, or a time. */
export async function answerQuestion(
  ports: ExplainPorts,
  fullCaller: ExplainCaller,
  query: ExplainQuery,
): Promise<Explanation> {
  const caller = asRestrictedCaller(fullCaller)
  const { id, at } = query
  if (id !== undefined && at === undefined) return explainObject(ports, caller, { id, session: query.session ?? null })
  if (at !== undefined && id === undefined) return explainTime(ports, caller, query)
  const both = id !== undefined
  throw invalid([
    {
      ...{ field: both ? 'id' : 'at', value: both ? id : undefined },
      message: both ? 'cannot be given together with at' : 'is missing',
      allowed: 'either id, or at with timezone, schedule_id, agent_id, session and within_seconds',
    },
  ])
}
