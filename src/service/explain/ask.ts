import type { Explanation, ExplainQuery } from '../../features/explain/schema.ts'
import { invalid } from '../../api/refusals.ts'
import type { Permission } from '../../domain/access/access.ts'
import { explainTime } from '../../features/explain/time.ts'
import type { Asker, Reading } from '../../features/explain/occurrence.ts'
import { explainThing } from './thing.ts'

/** What a key with guard rails may see of an org, whatever its role permits; everything else is not there for it. */
const OPEN_TO_RAILED: readonly Permission[] = ['schedules:read', 'runs:read']

const withinRails = (asker: Asker): Asker =>
  asker.railed === undefined
    ? asker
    : { ...asker, may: (permission) => OPEN_TO_RAILED.includes(permission) && asker.may(permission) }

/** Answers "why?": about one thing by its id, or about a moment. */
export async function explainAsked(ports: Reading, anyone: Asker, query: ExplainQuery): Promise<Explanation> {
  const asker = withinRails(anyone)
  const { id, at } = query
  if (id !== undefined && at === undefined) return explainThing(ports, asker, { id, session: query.session ?? null })
  if (at !== undefined && id === undefined) return explainTime(ports, asker, query)
  const both = id !== undefined
  throw invalid([
    {
      ...{ field: both ? 'id' : 'at', value: both ? id : undefined },
      message: both ? 'cannot be asked together with at' : 'is missing',
      allowed: 'either id, or at with schedule_id, agent_id, session and within_seconds',
    },
  ])
}
