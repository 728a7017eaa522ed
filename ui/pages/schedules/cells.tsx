import { Skeleton, Tooltip } from '@mantine/core'
import { IconPlugConnectedX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ScheduleView } from '../../../src/features/schedules/schema.ts'
import { outcomesOf } from '../../api/queries.ts'
import { Door } from '../../parts/Door.tsx'
import { useDoors } from '../../parts/doors.ts'
import { Sparkline } from '../../parts/figures/Sparkline.tsx'
import { StateDot } from '../../parts/StateDot.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'

interface CellProps {
  readonly schedule: ScheduleView
}

/** State, name and what it does in words. */
export function NameCell({ schedule }: CellProps): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const { id, state, name, sentence } = schedule
  return (
    <div className="schedule-name">
      <StateDot state={state} />
      <div className="schedule-words">
        <div className="schedule-title">
          <Door to={doors.schedule(id)}>{name}</Door>
          {schedule.delivery_disabled && (
            <Tooltip label={say('schedules.deliveryOff')}>
              <IconPlugConnectedX size={14} className="bad" role="img" aria-label={say('schedules.deliveryOff')} />
            </Tooltip>
          )}
        </div>
        <div className="schedule-sentence" title={sentence}>
          {sentence}
        </div>
      </div>
    </div>
  )
}

/** When it is next; a schedule that is off says its state instead. */
export function NextCell({ schedule }: CellProps): ReactNode {
  const say = useSay()
  const { state, next_run_at: next, timezone } = schedule
  if (state !== 'active') return <span className="quiet">{say(`state.${state}`)}</span>
  if (next === null) return <span className="quiet">{say('schedules.noNext')}</span>
  return <Time at={next} zone={timezone} show="both" />
}

/** How the last runs ended. Read when the row comes on screen; a schedule that never ran is not asked about. */
export function LastCell({ schedule: { id, last_run_at: last, last_status: status } }: CellProps): ReactNode {
  // Runs by hand are no moments of the plan, and count here.
  const hasRun = last !== null || status !== null
  const { data, isPending } = useQuery({ ...outcomesOf(id), enabled: hasRun })
  if (!hasRun)
    return (
      <span className="card-hidden">
        <Sparkline runs={[]} />
      </span>
    )
  return isPending ? <Skeleton height={18} width={120} /> : <Sparkline runs={data ?? []} />
}

/** Failures in a row, and in all. */
export function StreakCell({ schedule: { failure_streak: streak, failure_count: count } }: CellProps): ReactNode {
  const say = useSay()
  if (count === 0) return <span className="quiet card-hidden">{say('none')}</span>
  return (
    <div>
      {streak > 0 && <div className="bad">{say('schedules.streak', { count: streak })}</div>}
      <div className="quiet small">{say('schedules.failures', { count })}</div>
    </div>
  )
}

/** The agent of a schedule; links to all schedules of the agent. */
export function AgentCell({ schedule: { agent_id: agent } }: CellProps): ReactNode {
  const say = useSay()
  if (agent === null) return <span className="quiet">{say('schedules.ownExecutor')}</span>
  return (
    <Link to="/automation/schedules" search={{ agent_id: agent }} className="door ellipsis" title={agent}>
      {agent}
    </Link>
  )
}
