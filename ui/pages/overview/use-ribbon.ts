import { useQueries, useQuery } from '@tanstack/react-query'
import type { RunView } from '../../../src/features/runs/schema.ts'
import type { ScheduleView } from '../../../src/features/schedules/schema.ts'
import { comingOf, runsWithin, schedulePage } from '../../api/queries.ts'
import { useDoors, type Doors } from '../../parts/doors.ts'
import { itemOfRun, type RibbonItem, type RibbonRow } from '../../ribbon/items.ts'
import { useReasonText } from '../../parts/reason-text.ts'
import type { RibbonView } from '../../ribbon/view.ts'

const MOST_ROWS = 12
const MOST_RUNS = 600
const MOST_COMING = 200
/** What is read covers more than what is shown, so that moving a little reads nothing. */
const GRAIN_MS = 15 * 60_000

interface RibbonData {
  readonly rows: readonly RibbonRow[]
  readonly items: readonly RibbonItem[]
  readonly hiddenRows: number
  /** How many runs are drawn when there are more than that; null when all are. */
  readonly cutAt: number | null
  readonly isLoading: boolean
  readonly error: unknown
  readonly retry: () => void
}

/** What stands on the ribbon of the overview: a row for each schedule, and one for each agent's other work. */
export function useRibbon(view: RibbonView): RibbonData {
  const from = Math.floor(view.from / GRAIN_MS) * GRAIN_MS
  const to = Math.ceil((view.from + view.span) / GRAIN_MS) * GRAIN_MS
  const doors = useDoors()
  const reasonText = useReasonText()
  const window = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  const runs = useQuery(runsWithin(window, MOST_RUNS))
  const schedules = useQuery(schedulePage({ state: 'active', sort: 'next_run_at', limit: 100 }))
  const soon = (schedules.data?.items ?? []).filter((schedule) => isSoon(schedule, to))
  const rows = rowsOf(runs.data?.items ?? [], schedules.data?.items ?? [], { soon, doors })
  // By name: a row that jumps with every run cannot be followed.
  const shown = rows.slice(0, MOST_ROWS).sort((a, b) => a.label.localeCompare(b.label))
  const shownIds = new Set(shown.map(({ id }) => id))
  const coming = useQueries({
    queries: soon.filter(({ id }) => shownIds.has(id)).map((schedule) => comingOf(schedule, MOST_COMING)),
    combine: (results) => results.map(({ data }) => data ?? []),
  })
  const planned = soon
    .filter(({ id }) => shownIds.has(id))
    .flatMap((schedule, index) => comingItems(schedule, coming[index] ?? [], doors))
  const past = (runs.data?.items ?? []).map((run) => {
    const item = itemOfRun(run, rowOf(run), doors.run(run.id))
    return item.kind === 'skipped' ? { ...item, note: reasonText(run.decision) } : item
  })
  return {
    ...{ rows: shown, items: [...past, ...planned], hiddenRows: rows.length - shown.length },
    cutAt: runs.data?.next_cursor == null ? null : MOST_RUNS,
    isLoading: runs.isPending || schedules.isPending,
    error: runs.error ?? schedules.error,
    retry: () => {
      void runs.refetch()
      void schedules.refetch()
    },
  }
}

const isSoon = ({ next_run_at: next }: ScheduleView, to: number): boolean => next !== null && Date.parse(next) <= to

const rowOf = ({ schedule_id: scheduleId, agent_id: agentId }: RunView): string => scheduleId ?? `agent ${agentId}`

function comingItems(schedule: ScheduleView, times: readonly number[], doors: Doors): readonly RibbonItem[] {
  return times.map((start) => ({
    ...{ kind: 'coming', id: `${schedule.id} ${start}`, row: schedule.id, start },
    href: doors.schedule(schedule.id),
  }))
}

interface Rowed {
  readonly soon: readonly ScheduleView[]
  readonly doors: Doors
}

/** Those with runs first, newest on top; then those with something to come, soonest on top. */
function rowsOf(
  runs: readonly RunView[],
  schedules: readonly ScheduleView[],
  { soon, doors }: Rowed,
): readonly RibbonRow[] {
  const names = new Map(schedules.map(({ id, name }) => [id, name]))
  const rows = new Map<string, RibbonRow>()
  for (const run of runs) {
    const id = rowOf(run)
    const { schedule_id: scheduleId, agent_id: agentId } = run
    const label = scheduleId === null ? agentId : (names.get(scheduleId) ?? scheduleId)
    if (!rows.has(id)) rows.set(id, { id, label, href: scheduleId === null ? undefined : doors.schedule(scheduleId) })
  }
  for (const { id, name } of soon) if (!rows.has(id)) rows.set(id, { id, label: name, href: doors.schedule(id) })
  return [...rows.values()]
}
