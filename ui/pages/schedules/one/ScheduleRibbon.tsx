import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { RunView } from '../../../../src/features/runs/schema.ts'
import type { ScheduleView } from '../../../../src/features/schedules/schema.ts'
import { comingOf, runPage } from '../../../api/queries.ts'
import { useDoors } from '../../../parts/doors.ts'
import { ErrorState } from '../../../parts/ErrorState.tsx'
import { Lines } from '../../../parts/Lines.tsx'
import { Panel } from '../../../parts/Panel.tsx'
import { useReasonText } from '../../../parts/reason-text.ts'
import { itemOfRun, type RibbonItem } from '../../../ribbon/items.ts'
import { Ribbon } from '../../../ribbon/Ribbon.tsx'
import { SPANS, viewAround, viewAt } from '../../../ribbon/view.ts'
import { useSay } from '../../../texts/TextProvider.tsx'
import { useNow } from '../../../time/clock.ts'

const STEP_MS = 60_000
const GRAIN_MS = 15 * STEP_MS
const MOST = 200
const BY_HAND: readonly RunView['trigger'][] = ['manual', 'retry']

/** Half a day back and half a day ahead: what it planned in one row, what people asked for in another. */
export function ScheduleRibbon({ schedule }: { readonly schedule: ScheduleView }): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const reasonText = useReasonText()
  const now = useNow(STEP_MS)
  const [view, setView] = useState(() => viewAround(Date.now(), SPANS['24h']))
  const { from, span } = viewAt(view, now)
  const grain = (at: number, round: (n: number) => number): string =>
    new Date(round(at / GRAIN_MS) * GRAIN_MS).toISOString()
  const runs = useQuery(
    runPage({
      ...{ schedule_id: schedule.id, limit: MOST },
      ...{ from: grain(from, Math.floor), to: grain(from + span, Math.ceil) },
    }),
  )
  const coming = useQuery(comingOf(schedule, MOST)).data ?? []
  const past = (runs.data?.items ?? []).map((run): RibbonItem => {
    const item = itemOfRun(run, BY_HAND.includes(run.trigger) ? 'hand' : 'plan', doors.run(run.id))
    return item.kind === 'skipped' ? { ...item, note: reasonText(run.decision) } : item
  })
  const planned = coming.map((start): RibbonItem => ({
    ...{ kind: 'coming', id: `plan ${start}`, row: 'plan', start },
    // What is still to come has no run yet; its explanation says what it waits for.
    href: `${doors.schedule(schedule.id) ?? ''}?tab=policy&at=${new Date(start).toISOString()}`,
  }))
  const rows = [
    { id: 'plan', label: say('one.row.plan') },
    ...(past.some(({ row }) => row === 'hand') ? [{ id: 'hand', label: say('one.row.hand') }] : []),
  ]
  const note = runs.data?.next_cursor == null ? undefined : say('ribbon.cut', { count: MOST })
  return (
    <Panel title={say('overview.ribbon')}>
      {runs.data !== undefined ? (
        <Ribbon {...{ rows, items: [...past, ...planned], view, setView, note }} />
      ) : runs.error !== null ? (
        <ErrorState error={runs.error} retry={() => void runs.refetch()} />
      ) : (
        <Lines count={3} height={22} />
      )}
    </Panel>
  )
}
