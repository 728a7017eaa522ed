import { explainQuery, explanation } from '../contract/explain.ts'
import { isPermitted, type Principal } from '../core/access.ts'
import type { Caller } from '../service/caller.ts'
import { explainAsked } from '../service/explain/ask.ts'
import type { Asker } from '../service/explain/occurrence.ts'
import type { OperationContext } from './context.ts'
import { operation } from './operation.ts'

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
    summary: 'Says why something happened, or why nothing did',
    description:
      'Either about one thing, by its `id`: a run, task, `job_run_id`, schedule, message, attempt, delivery, alert, ' +
      'heartbeat, target, agent or session. Or about a moment, `at`: what was planned, what ran, what was skipped, ' +
      'refused or waited within `within_seconds` (300 unless given) of it, most telling first. A time without a zone is ' +
      'read by the clock of the schedule that is named, else of the org. What other permissions show (`audit:read`: ' +
      'who switched a schedule off) is left out for callers that lack them: with schedules:read and without runs:read these ' +
      'are schedules, their runs and what those delivered. A key with guard rails gets answers about ' +
      'its own schedules and runs.',
    query: explainQuery,
    answers: { 200: explanation },
    refusals: ['NOT_FOUND'],
    examples: { query: 'id=$ID' },
  }).by((call) => explainAsked(call.ports, askerOf(call), call.query)),
}
