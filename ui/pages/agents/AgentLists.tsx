import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { sessionsOfAgent } from '../../api/admin-queries.ts'
import { schedulePage } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { Door } from '../../parts/Door.tsx'
import { useDoors } from '../../parts/doors.ts'
import { Lines } from '../../parts/Lines.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { nameOfSession } from '../../parts/session-name.ts'
import { StateDot } from '../../parts/StateDot.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'

interface ListProps {
  readonly id: string
}

const SCHEDULES = 8

/** The schedules that run an agent, the failing ones first. */
export function AgentSchedules({ id }: ListProps): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const { data } = useQuery(schedulePage({ agent_id: id, sort: '-failure_streak', limit: SCHEDULES }))
  const all = (
    <Link to="/automation/schedules" search={{ agent_id: id }} className="door small">
      {say('agents.allSchedules')}
    </Link>
  )
  return (
    <Panel title={say('agents.schedules')} aside={all}>
      {data === undefined ? (
        <Lines />
      ) : data.items.length === 0 ? (
        <p className="panel-none">{say('agents.useNone')}</p>
      ) : (
        <ul className="rows">
          {data.items.map((schedule) => (
            <li key={schedule.id} className="row">
              <StateDot state={schedule.state} />
              <span className="row-main">
                <Door to={doors.schedule(schedule.id)}>{schedule.name}</Door>
                <span className="row-sub">{schedule.sentence}</span>
              </span>
              {schedule.failure_streak > 0 && (
                <span className="bad">{say('overview.streak', { count: schedule.failure_streak })}</span>
              )}
              {schedule.next_run_at !== null && (
                <span className="quiet">
                  <Time at={schedule.next_run_at} zone={schedule.timezone} />
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

/** The newest sessions with an agent. */
export function AgentSessions({ id }: ListProps): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const { data } = useQuery({ ...sessionsOfAgent(id), enabled: useMay('sessions:read') })
  return (
    <Panel title={say('agents.sessions')}>
      {data === undefined ? (
        <Lines />
      ) : data.items.length === 0 ? (
        <p className="panel-none">{say('agents.noSessions')}</p>
      ) : (
        <ul className="rows">
          {data.items.map(({ key, created_at: at }) => (
            <li key={key} className="row">
              <span className="row-main">
                <Door to={doors.session(key)}>{nameOfSession(key).name}</Door>
              </span>
              <span className="quiet">
                <Time at={at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
