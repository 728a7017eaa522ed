import type { AgentId, OrgId, RunId, ScheduleId } from '../../domain/ids.ts'
import { DAY_MS, type Instant } from '../../domain/instant.ts'
import type { Connection, SqlValue } from '../../store/database.ts'
import { column, columns, type RowOf, toTimestamp } from '../../platform/db/table.ts'

const usages = columns({
  id: column.text<RunId>(),
  agentId: column.text<AgentId>(),
  scheduleId: column.text<ScheduleId | null>(),
  usage: column.json(),
})

/** What an ended run used, as its executor reported it. */
export type RunUsage = RowOf<typeof usages>

/** What these runs used; those that have not ended or reported nothing are left out. */
export async function loadUsages(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly ids: readonly RunId[] },
): Promise<readonly RunUsage[]> {
  const rows = await connection.query(
    `select ${usages.list} from run
      where org_id = $1 and id = any($2::text[]) and usage is not null order by created_at, id`,
    [wanted.orgId, wanted.ids],
  )
  return usages.read(rows)
}

/** So many runs are looked through: an agent that reports nothing must not make anybody read its whole history. */
const LOOKED_THROUGH = 500

/** Whose newest runs, how many of each, and how many are looked through for them at most. */
interface HabitsWanted<Id> {
  readonly orgId: OrgId
  readonly ids: readonly Id[]
  readonly each: number
  readonly lookThrough?: number
}

/** The newest runs of each agent that reported what they used, oldest first. */
export async function loadHabitsOfAgents(
  connection: Connection,
  wanted: HabitsWanted<AgentId>,
): Promise<readonly RunUsage[]> {
  const rows = await connection.query(HABITS_OF_AGENTS, habitsAsked(wanted))
  return usages.read(rows)
}

/** The newest runs of each schedule that reported what they used, oldest first. */
export async function loadHabitsOfSchedules(
  connection: Connection,
  wanted: HabitsWanted<ScheduleId>,
): Promise<readonly RunUsage[]> {
  const rows = await connection.query(HABITS_OF_SCHEDULES, habitsAsked(wanted))
  return usages.read(rows)
}

const habitsAsked = ({ orgId, ids, each, lookThrough }: HabitsWanted<string>): readonly SqlValue[] => [
  ...[orgId, ids, each, lookThrough ?? LOOKED_THROUGH],
]

const habitsBy = (owner: 'agent_id' | 'schedule_id'): string => `select ${usages.of('n')}
  from unnest($2::text[]) as w (id), lateral (
    select * from (
      select id, agent_id, schedule_id, usage, created_at from run
      where org_id = $1 and ${owner} = w.id order by created_at desc, id desc limit $4) l
    where l.usage is not null order by l.created_at desc, l.id desc limit $3) n
  order by n.created_at, n.id`

const HABITS_OF_AGENTS = habitsBy('agent_id')
const HABITS_OF_SCHEDULES = habitsBy('schedule_id')

/** Never less than a day: what came in the first minutes does not go on all day. */
const SPAN_OF_SEEN = `greatest(${DAY_MS}, (select extract(epoch from $2::timestamptz - min(created_at)) * 1000 from seen))
  ::float8`

const chats = columns({
  agentId: column.text<AgentId>(),
  made: column.float('count(*)::float8'),
  spanMs: column.float(SPAN_OF_SEEN),
})

const tasks = columns({
  agentId: column.text<AgentId>('t.key'),
  made: column.float(
    "sum(coalesce((t.value ->> 'completed')::float8, 0) + coalesce((t.value ->> 'failed')::float8, 0))",
  ),
  spanMs: column.float(SPAN_OF_SEEN),
})

/** Runs that no plan makes, as often as an agent had them. */
export interface ObservedRate {
  readonly agentId: AgentId
  readonly perDay: number
}

/** So many rows are looked through: what is said of the usual pace needs no more. */
const ROWS_LOOKED_THROUGH = 20_000

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
        order by created_at desc, id desc limit ${ROWS_LOOKED_THROUGH})
     select ${chats.list}
       from seen where trigger in ('message', 'webhook', 'manual', 'retry')
        and not (trigger = 'manual' and nominal_at is not null) group by agent_id`,
    [wanted.orgId, toTimestamp(wanted.now)],
  )
  return chats.read(rows).map(rateOf)
}

/** How many tasks of each agent ended per day. Tasks are not kept for long; the history of turns, kept for a day, counts. */
export async function loadTaskRates(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly now: Instant },
): Promise<readonly ObservedRate[]> {
  const rows = await connection.query(
    `with seen as (
       select at as created_at, tasks from turn
        where org_id = $1 and at > $2::timestamptz - interval '1 day' and at <= $2::timestamptz
        order by no desc limit ${ROWS_LOOKED_THROUGH})
     select ${tasks.list}
       from seen, jsonb_each(seen.tasks) t group by t.key`,
    [wanted.orgId, toTimestamp(wanted.now)],
  )
  return tasks
    .read(rows)
    .map(rateOf)
    .filter(({ perDay }) => perDay > 0)
}

const rateOf = ({ agentId, made, spanMs }: RowOf<typeof chats>): ObservedRate => ({
  agentId,
  perDay: (made * DAY_MS) / spanMs,
})
