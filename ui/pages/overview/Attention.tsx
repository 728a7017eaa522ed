import {
  IconAlertTriangle,
  IconBellRinging,
  IconCircleCheck,
  IconPlugConnectedX,
  IconUserCheck,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ScheduleView } from '../../../src/features/schedules/schema.ts'
import { incidentsOf, needsAttention, type Incident } from '../../api/incidents.ts'
import { useAgentName } from '../../api/names.ts'
import { openAlerts, schedulePage } from '../../api/queries.ts'
import { Door } from '../../parts/Door.tsx'
import { useDoors } from '../../parts/doors.ts'
import { Lines } from '../../parts/Lines.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Sentence } from '../../parts/Sentence.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { useNow } from '../../time/clock.ts'
import { Time } from '../../time/Time.tsx'

const MOST = 6
const MINUTE_MS = 60_000
const ICON = { size: 16, 'aria-hidden': true } as const

/** What a person should look at: what waits for approval, schedules that keep failing, deliveries that are off, alerts that are open. */
export function Attention(): ReactNode {
  const say = useSay()
  const alerts = useQuery(openAlerts)
  const schedules = useQuery(schedulePage({ failing: true, sort: '-failure_streak', limit: MOST }))
  const proposed = useQuery(schedulePage({ state: 'pending_approval', limit: MOST }))
  const waiting = proposed.data?.items ?? []
  const isMore = schedules.data?.next_cursor != null
  const now = useNow(MINUTE_MS)
  const incidents = incidentsOf(
    (alerts.data?.items ?? []).filter((alert) => needsAttention(alert, now)),
    now,
  )
  // Those that have an open alert are part of an incident, also of one that is acknowledged or snoozed.
  const alerted = new Set((alerts.data?.items ?? []).map(({ subject_id: id }) => id))
  const troubled = (schedules.data?.items ?? []).filter(({ id }) => !alerted.has(id))
  const isLoading = alerts.isPending || schedules.isPending || proposed.isPending
  return (
    <Panel title={say('overview.attention')} aside={isMore && <AllFailing />}>
      {isLoading ? (
        <Lines />
      ) : troubled.length + incidents.length + waiting.length === 0 ? (
        <p className="panel-none all-well">
          <IconCircleCheck {...ICON} />
          {say('overview.allWell')}
        </p>
      ) : (
        <ul className="rows">
          {waiting.map((schedule) => (
            <Proposed key={schedule.id} schedule={schedule} />
          ))}
          {proposed.data?.next_cursor != null && <AllProposed />}
          {incidents.slice(0, MOST).map((incident) => (
            <Open key={`${incident.kind} ${incident.id}`} incident={incident} />
          ))}
          {incidents.length > MOST && <AllIncidents count={incidents.length} />}
          {troubled.map((schedule) => (
            <Troubled key={schedule.id} schedule={schedule} />
          ))}
        </ul>
      )}
    </Panel>
  )
}

/** An incident: what it is about, how often, and its error. */
function Open({ incident }: { readonly incident: Incident }): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const agentName = useAgentName(incident.id)
  const { kind, id, name, alerts, error, streak, since } = incident
  const to = kind === 'schedule' ? doors.schedule(id) : kind === 'agent' ? doors.agent(id) : '/operations/alerts'
  const [first] = alerts
  return (
    <li className="row">
      <IconBellRinging {...ICON} className="bad" />
      <span className="row-main">
        <Door to={to ?? '/operations/alerts'}>{kind === 'agent' ? agentName : name}</Door>
        <span className="row-sub">{error ?? (first !== undefined && <Sentence why={first.why} />)}</span>
      </span>
      {streak !== null && streak > 0 && <span className="bad">{say('overview.streak', { count: streak })}</span>}
      <span className="quiet">
        <Time at={since} />
      </span>
    </li>
  )
}

function AllIncidents({ count }: { readonly count: number }): ReactNode {
  const say = useSay()
  return (
    <li className="row">
      <Link to="/operations/alerts" className="door small">
        {say('overview.allIncidents', { count })}
      </Link>
    </li>
  )
}

/** A schedule proposed by an agent or a program that needs approval. */
function Proposed({ schedule }: { readonly schedule: ScheduleView }): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const { id, name, sentence, created_at: at, approval } = schedule
  return (
    <li className="row">
      <IconUserCheck {...ICON} className="attention-waits" />
      <span className="row-main">
        <Door to={doors.schedule(id)}>{name}</Door>
        <span className="row-sub">
          {say('approval.waits')} · {sentence}
        </span>
      </span>
      <span className="quiet">
        <Time at={approval?.requested_at ?? at} />
      </span>
    </li>
  )
}

function AllProposed(): ReactNode {
  const say = useSay()
  return (
    <li className="row">
      <Link to="/automation/schedules" search={{ state: 'pending_approval' }} className="door small">
        {say('approval.all')}
      </Link>
    </li>
  )
}

function AllFailing(): ReactNode {
  const say = useSay()
  return (
    <Link to="/automation/schedules" search={{ failing: true, sort: '-failure_streak' }} className="door small">
      {say('overview.allFailing')}
    </Link>
  )
}

function Troubled({ schedule }: { readonly schedule: ScheduleView }): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const { id, name, failure_streak: count, delivery_disabled: isOff, last_error: error } = schedule
  const door = doors.schedule(id)
  return (
    <li className="row">
      {isOff ? <IconPlugConnectedX {...ICON} className="bad" /> : <IconAlertTriangle {...ICON} className="bad" />}
      <span className="row-main">
        {door === undefined ? (
          <Link to="/automation/schedules" search={{ q: name }} className="door">
            {name}
          </Link>
        ) : (
          <Door to={door}>{name}</Door>
        )}
        <span className="row-sub">{isOff ? say('overview.deliveryOff') : error}</span>
      </span>
      {count > 0 && <span className="bad">{say('overview.streak', { count })}</span>}
    </li>
  )
}
