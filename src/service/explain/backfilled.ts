import type { ExplainStep, OccurrenceExplanation } from '../../contract/explain.ts'
import type { OrgId, ScheduleId } from '../../core/ids.ts'
import type { Instant } from '../../core/instant.ts'
import { explainWhy } from '../../core/reasons.ts'
import { isTerminal } from '../../core/run/run-machine.ts'
import { loadBackfilledRuns } from '../../store/backfill-reads.ts'
import type { Connection } from '../../store/database.ts'
import { linkTo, onlyOnce } from './links.ts'

/** More backfills of one moment than these are not told. */
const MOST_TOLD = 5

/** Adds to what the plan made of a moment what backfills made of it. */
export async function withBackfills(
  connection: Connection,
  about: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly nominal: Instant },
  told: OccurrenceExplanation,
): Promise<OccurrenceExplanation> {
  const found = await loadBackfilledRuns(connection, { ...about, limit: MOST_TOLD })
  if (found.length === 0) return told
  const steps = found.map(({ backfillId, runId, state, decision }): ExplainStep => ({
    ...{ stage: 'backfill', name: backfillId },
    state: state === 'success' || !isTerminal(state) ? 'passed' : 'closed',
    sentence: `${explainWhy(decision)} Run ${runId} is ${state}.`,
  }))
  const links = found.map(({ runId }) => linkTo('run', runId, 'backfill'))
  return { ...told, steps: [...told.steps, ...steps], links: onlyOnce([...told.links, ...links]) }
}
