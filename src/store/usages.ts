import type { AgentId, OrgId, RunId, ScheduleId } from '../core/ids.ts'
import type { Connection, SqlValue } from './database.ts'
import { column, columns, type RowOf } from './table.ts'

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
