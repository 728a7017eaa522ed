import type { AgentId, OrgId, RunId, ScheduleId } from '../../domain/ids.ts'
import { DAY_MS, type Instant } from '../../domain/instant.ts'
import type { Connection, SqlValue } from '../../platform/db/database.ts'
import { column, columns, type RowOf, toTimestamp } from '../../platform/db/table.ts'

const usages = columns({
  id: column.text<RunId>(),
  agentId: column.text<AgentId>(),
  scheduleId: column.text<ScheduleId | null>(),
  usage: column.json(),
})

/** The usage of an ended run, as reported by its executor. */
export type RunUsage = RowOf<typeof usages>

/** The usage of these runs; runs that have not ended or reported nothing are left out. */
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

/** The maximum number of runs searched, so that an agent that reports no usage does not cause a full scan. */
const MAX_RUNS_SEARCHED = 500

/** Whose newest runs to load, how many of each, and how many runs to search at most. */
interface RecentUsageQuery<Id> {
  readonly orgId: OrgId
  readonly ids: readonly Id[]
  readonly perId: number
  readonly searchLimit?: number
}

/** The newest runs of each agent that reported usage, oldest first. */
export async function loadRecentUsageOfAgents(
  connection: Connection,
  wanted: RecentUsageQuery<AgentId>,
): Promise<readonly RunUsage[]> {
  const rows = await connection.query(RECENT_USAGE_OF_AGENTS, recentUsageParams(wanted))
  return usages.read(rows)
}

/** The newest runs of each schedule that reported usage, oldest first. */
export async function loadRecentUsageOfSchedules(
  connection: Connection,
  wanted: RecentUsageQuery<ScheduleId>,
): Promise<readonly RunUsage[]> {
  const rows = await connection.query(RECENT_USAGE_OF_SCHEDULES, recentUsageParams(wanted))
  return usages.read(rows)
}

const recentUsageParams = ({ orgId, ids, perId, searchLimit }: RecentUsageQuery<string>): readonly SqlValue[] => [
  ...[orgId, ids, perId, searchLimit ?? MAX_RUNS_SEARCHED],
]

const recentUsageSql = (owner: 'agent_id' | 'schedule_id'): string => `select ${usages.of('n')}
  from unnest($2::text[]) as w (id), lateral (
    select * from (
      select id, agent_id, schedule_id, usage, created_at from run
      where org_id = $1 and ${owner} = w.id order by created_at desc, id desc limit $4) l
    where l.usage is not null order by l.created_at desc, l.id desc limit $3) n
  order by n.created_at, n.id`

const RECENT_USAGE_OF_AGENTS = recentUsageSql('agent_id')
const RECENT_USAGE_OF_SCHEDULES = recentUsageSql('schedule_id')

/** At least one day, so that a rate is not extrapolated from a few minutes. */
const OBSERVED_SPAN = `greatest(${DAY_MS}, (select extract(epoch from $2::timestamptz - min(created_at)) * 1000 from seen))
  ::float8`

const chats = columns({
  agentId: column.text<AgentId>(),
  made: column.float('count(*)::float8'),
  spanMs: column.float(OBSERVED_SPAN),
})

const tasks = columns({
  agentId: column.text<AgentId>('t.key'),
  made: column.float(
    "sum(coalesce((t.value ->> 'completed')::float8, 0) + coalesce((t.value ->> 'failed')::float8, 0))",
  ),
  spanMs: column.float(OBSERVED_SPAN),
})

/** The rate of an agent's runs that no schedule creates. */
export interface ObservedRate {
  readonly agentId: AgentId
  readonly perDay: number
}

/** The maximum number of rows read, which is enough to estimate a rate. */
const MAX_ROWS_READ = 20_000

/** Rates older than this say little about the next days. */
const LOOK_BACK_DAYS = 14

/**
 * The daily rate of each agent's runs triggered by messages, webhooks and users. If the org is younger than the window,
 * or has more runs than are read, the rate refers to the time span of the runs read.
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
        order by created_at desc, id desc limit ${MAX_ROWS_READ})
     select ${chats.list}
       from seen where trigger in ('message', 'webhook', 'manual', 'retry')
        and not (trigger = 'manual' and nominal_at is not null) group by agent_id`,
    [wanted.orgId, toTimestamp(wanted.now)],
  )
  return chats.read(rows).map(rateOf)
}

/**
 * The daily rate of ended tasks of each agent. Tasks are deleted soon, so the history of transactions is used, which is
 * kept for a day.
 */
export async function loadTaskRates(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly now: Instant },
): Promise<readonly ObservedRate[]> {
  const rows = await connection.query(
    `with seen as (
       select at as created_at, tasks from turn
        where org_id = $1 and at > $2::timestamptz - interval '1 day' and at <= $2::timestamptz
        order by no desc limit ${MAX_ROWS_READ})
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
