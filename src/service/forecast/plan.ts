import { addAll } from '../../core/long-lists.ts'
import { plannedTiming } from '../../core/cadence/pace.ts'
import { heartbeatSubject, startedShare } from '../../core/probe/asked.ts'
import { inlineKindOf } from '../../core/executor/inline-agent.ts'
import { heartbeatRuns, maxWaiting, observedRuns, scheduledRuns } from '../../core/forecast/runs-per-day.ts'
import type { OrgId } from '../../core/ids.ts'
import type { Instant } from '../../core/instant.ts'
import type { Connection } from '../../store/database.ts'
import { loadChatRates, loadTaskRates, type ObservedRate } from '../../store/usages.ts'
import { loadEnabledHeartbeats } from '../../store/heartbeats.ts'
import { loadProbes, type ProbeRow } from '../../store/probes.ts'
import { listSchedules } from '../../store/schedules.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { configOf, withRoute } from '../heartbeat/view.ts'
import type { Origin } from './source.ts'

/** More schedules than these are not forecast; those that were made last are. */
export const MOST_SCHEDULES = 10_000

/** Everything that will make runs by itself or has done so regularly. */
export interface Plan {
  readonly origins: readonly Origin[]
  readonly leftOut: number
  /** Schedules whose interval moves by itself, which are counted at the pace they have. */
  readonly paced: number
}

/** The plan of an org: its active schedules and heartbeats, and what comes without a plan at the pace it had. */
export async function loadPlan(
  connection: Connection,
  { orgId, now }: { readonly orgId: OrgId; readonly now: Instant },
): Promise<Plan> {
  const schedules = await loadActive(connection, orgId)
  const heartbeats = await loadEnabledHeartbeats(connection, { orgId, limit: MOST_SCHEDULES })
  // Without a route no agent is started.
  const reaching = await withRoute(connection, heartbeats, { orgId, now })
  const subjects = [
    ...schedules.flatMap(({ id, input }) => ((input['probe'] ?? null) === null ? [] : [id])),
    ...reaching.flatMap((row) => (configOf(row).probe === null ? [] : [heartbeatSubject(row.agentId)])),
  ]
  const probes = subjects.length === 0 ? new Map<string, ProbeRow>() : await loadProbes(connection, { orgId, subjects })
  const chats = await loadChatRates(connection, { orgId, now })
  const tasks = await loadTaskRates(connection, { orgId, now })
  const origins = [
    ...schedules
      .slice(0, MOST_SCHEDULES)
      .map((row) => ({ ...originOf(row), started: startedShare(probes.get(row.id)) })),
    ...reaching.map((row): Origin => {
      const config = configOf(row)
      const { agentId, okStreak } = row
      const runsOn: Origin['runsOn'] = (days) => heartbeatRuns(config, okStreak, days)
      const started = startedShare(probes.get(heartbeatSubject(agentId)))
      const made = { kind: 'heartbeat', name: agentId, agentId, scheduleId: null, payload: null } as const
      // A heartbeat whose run waits keeps its agent busy.
      return { ...made, runsOn, started, maxWaiting: 1 }
    }),
    ...chats.map((rate) => observed('chat', rate)),
    ...tasks.map((rate) => observed('tasks', rate)),
  ]
  const paced = schedules.filter(({ pace }) => pace !== null).length
  return { origins, leftOut: Math.max(0, schedules.length - MOST_SCHEDULES), paced }
}

/** So many are read at once: a schedule has to be read and understood, and others wait meanwhile. */
const AT_ONCE = 100

async function loadActive(connection: Connection, orgId: OrgId): Promise<readonly ScheduleRow[]> {
  const found: ScheduleRow[] = []
  for (;;) {
    const last = found.at(-1)
    const after = last === undefined ? null : { value: last.createdAt, id: last.id }
    const page = { orgId, state: 'active', sort: '-created_at', after, limit: AT_ONCE } as const
    const rows = await listSchedules(connection, page)
    addAll(found, rows)
    if (rows.length < AT_ONCE || found.length > MOST_SCHEDULES) return found
  }
}

/** A schedule as something that makes runs. */
export function originOf(row: ScheduleRow): Origin {
  const { id, name, agentId, owner, payload, rules, fires, watermark } = row
  // At the pace it has now: what its runs will find is not foreseen.
  const timing = plannedTiming(row)
  const planned = { timing, maxFires: rules.maxFires, fires, watermark }
  const runsOn: Origin['runsOn'] = (days) => scheduledRuns(planned, days)
  const waiting = { maxWaiting: maxWaiting(rules) }
  const made = { kind: 'schedule', name, agentId, scheduleId: id, owner, payload, runsOn, ...waiting } as const
  return timing.kind === 'rrule' ? { ...made, rule: planned } : made
}

const observed = (kind: 'chat' | 'tasks', { agentId, perDay }: ObservedRate): Origin => ({
  ...{ kind, name: inlineKindOf(agentId) ?? agentId, agentId, scheduleId: null, payload: null },
  runsOn: (days) => observedRuns(perDay, days),
})
