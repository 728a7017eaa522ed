import { agentId, type AgentId, type OrgId } from '../core/ids.ts'
import { DAY_MS, type Instant } from '../core/instant.ts'
import type { Connection, Row } from './database.ts'
import { toTimestamp } from './timestamp.ts'

/** Runs that no plan makes, as often as an agent had them. */
export interface ObservedRate {
  readonly agentId: AgentId
  readonly perDay: number
}

/** So many rows are looked through: what is said of the usual pace needs no more. */
const LOOKED_THROUGH = 20_000

/** So far back; a pace of longer ago says little about the next days. */
const LOOK_BACK_DAYS = 14

/**
 * How often each agent was woken by messages, webhooks and people, per day. Of an org that is younger than the time looked
 * back at, or has more runs than are looked through, the time that was seen counts.
 */
export async function loadChatRates(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly now: Instant },
): Promise<readonly ObservedRate[]> {
  const rows = await connection.query(
    `with seen as (
       select agent_id, trigger, nominal_at, created_at from run
        where org_id = $1 and created_at > $2::timestamptz - interval '${LOOK_BACK_DAYS} days'
          and created_at <= $2::timestamptz
        order by created_at desc, id desc limit ${LOOKED_THROUGH})
     select agent_id, count(*)::float8 as made, ${SPAN_OF_SEEN}
       from seen where trigger in ('message', 'webhook', 'manual', 'retry')
        and not (trigger = 'manual' and nominal_at is not null) group by agent_id`,
    [wanted.orgId, toTimestamp(wanted.now)],
  )
  return rows.map(rateOf)
}

/** Never less than a day: what came in the first minutes does not go on all day. */
const SPAN_OF_SEEN = `greatest(${DAY_MS}, (select extract(epoch from $2::timestamptz - min(created_at)) * 1000 from seen))
  ::float8 as span_ms`

/** How many tasks of each agent ended per day. Tasks are not kept for long; the history of turns, kept for a day, counts. */
export async function loadTaskRates(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly now: Instant },
): Promise<readonly ObservedRate[]> {
  const rows = await connection.query(
    `with seen as (
       select at as created_at, tasks from turn
        where org_id = $1 and at > $2::timestamptz - interval '1 day' and at <= $2::timestamptz
        order by no desc limit ${LOOKED_THROUGH})
     select t.key as agent_id, ${SPAN_OF_SEEN},
       sum(coalesce((t.value ->> 'completed')::float8, 0) + coalesce((t.value ->> 'failed')::float8, 0)) as made
       from seen, jsonb_each(seen.tasks) t group by t.key`,
    [wanted.orgId, toTimestamp(wanted.now)],
  )
  return rows.map(rateOf).filter(({ perDay }) => perDay > 0)
}

const rateOf = (row: Row): ObservedRate => ({
  agentId: agentId(row['agent_id'] as string),
  perDay: ((row['made'] as number) * DAY_MS) / (row['span_ms'] as number),
})
