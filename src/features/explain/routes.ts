import { explainQuery, explanation } from './schema.ts'
import { isPermitted, type Principal } from '../../domain/access/access.ts'
import type { Caller } from '../access/caller.ts'
import { answerQuestion } from './service.ts'
import type { ExplainCaller } from './occurrence.ts'
import type { OperationContext } from '../../operations/context.ts'
import { operation } from '../../operations/handler.ts'

/** The caller of an explanation, with its permissions. */
export const explainCallerOf = (call: {
  readonly ctx: OperationContext
  readonly caller: Caller
  readonly principal: Principal
}): ExplainCaller => ({
  ...call.caller,
  may: (permission) => isPermitted(call.principal, permission),
  live: call.ctx.live,
})

/** Operations that explain why something did, or did not, happen. */
export const explainOperations = {
  'explain.ask': operation({
    ...{ method: 'GET', path: '/api/v1/explain', tag: 'explain' },
    permission: ['runs:read', 'schedules:read'],
    restrictedAccess: 'list',
    summary: 'Explain why something happened, or why nothing did',
    description:
      'Ask about one object by its `id`: a run, task, `job_run_id`, schedule, message, attempt, delivery, alert, ' +
      'heartbeat, target, agent or session. Or ask about a time, `at`: what was planned, ran, was skipped, was ' +
      'refused or waited within `within_seconds` (default 300) of it, most relevant first. A time without a zone ' +
      'is read in the time zone of the given schedule, else of the org. Facts that require other permissions ' +
      '(`audit:read`: who disabled a schedule) are left out for callers without them: with schedules:read but not ' +
      'runs:read, answers cover schedules, their runs and their deliveries. A restricted key gets answers about ' +
      'its own schedules and runs.',
    query: explainQuery,
    answers: { 200: explanation },
    refusals: ['NOT_FOUND'],
    examples: { query: 'id=$ID' },
  }).by((call) => answerQuestion(call.ports, explainCallerOf(call), call.query)),
}
