import { explainQuery, explanation } from './schema.ts'
import { isPermitted, type Principal } from '../../domain/access/access.ts'
import type { Caller } from '../../service/caller.ts'
import { explainAsked } from '../../service/explain/ask.ts'
import type { Asker } from './occurrence.ts'
import type { OperationContext } from '../../operations/context.ts'
import { operation } from '../../operations/handler.ts'

/** Who asks for an explanation, and how much of it they may see. */
export const askerOf = (call: {
  readonly ctx: OperationContext
  readonly caller: Caller
  readonly principal: Principal
}): Asker => ({
  ...call.caller,
  may: (permission) => isPermitted(call.principal, permission),
  live: call.ctx.live,
})

/** Why something did, or did not, happen. */
export const explainOperations = {
  'explain.ask': operation({
    ...{ method: 'GET', path: '/api/v1/explain', tag: 'explain' },
    permission: ['runs:read', 'schedules:read'],
    rails: 'list',
    summary: 'Explain why something happened, or why nothing did',
    description:
      'Ask about one object by its `id`: a run, task, `job_run_id`, schedule, message, attempt, delivery, alert, ' +
      'heartbeat, target, agent or session. Or ask about a time, `at`: what was planned, ran, was skipped, was ' +
      'refused or waited within `within_seconds` (default 300) of it, most relevant first. A time without a zone ' +
      'is read in the time zone of the given schedule, else of the org. Facts that need other permissions ' +
      '(`audit:read`: who disabled a schedule) are left out for callers without them: with schedules:read but not ' +
      'runs:read, answers cover schedules, their runs and their deliveries. A restricted key gets answers about ' +
      'its own schedules and runs.',
    query: explainQuery,
    answers: { 200: explanation },
    refusals: ['NOT_FOUND'],
    examples: { query: 'id=$ID' },
  }).by((call) => explainAsked(call.ports, askerOf(call), call.query)),
}
