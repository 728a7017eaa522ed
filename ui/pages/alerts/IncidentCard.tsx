import { Button, Menu } from '@mantine/core'
import { IconBellOff, IconCheck, IconPlayerPause, IconRefresh } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { AlertView } from '../../../src/features/alerts/schema.ts'
import { needsAttention, type Incident } from '../../api/incidents.ts'
import { useAgentName } from '../../api/names.ts'
import { Door } from '../../parts/Door.tsx'
import { useDoors, type Doors } from '../../parts/doors.ts'
import { Permitted } from '../../parts/Permitted.tsx'
import { Sentence } from '../../parts/Sentence.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { useNow } from '../../time/clock.ts'
import { Time } from '../../time/Time.tsx'
import { SNOOZES, snoozeEnd, useIncidentActions } from './use-incident.ts'

const ICON = { size: 14, 'aria-hidden': true } as const
const MINUTE_MS = 60_000

/** One cause of trouble: what it is, since when, its error, and what can be done about it. */
export function IncidentCard({ incident }: { readonly incident: Incident }): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const now = useNow(MINUTE_MS)
  const agentName = useAgentName(incident.id)
  const name = incident.kind === 'agent' ? agentName : incident.name
  const isNew = incident.alerts.some((alert) => needsAttention(alert, now))
  return (
    <article className="incident" data-new={isNew} aria-label={name}>
      <header className="incident-head">
        <div>
          <h2>
            <Door to={doorOf(incident, doors)}>{name}</Door>
          </h2>
          <div className="quiet small">
            {say(`alerts.cause.${incident.kind}`)} · {say('alerts.since')} <Time at={incident.since} show="short" /> (
            <Time at={incident.since} />)
          </div>
        </div>
        {incident.streak !== null && incident.streak > 0 && (
          <span className="incident-streak">{say('alerts.streak', { count: incident.streak })}</span>
        )}
      </header>
      <ul className="incident-alerts">
        {incident.alerts.map((alert) => (
          <AlertLine key={alert.id} {...{ alert, incident }} />
        ))}
      </ul>
      {incident.error !== null && <pre className="incident-error">{incident.error}</pre>}
      <Actions {...{ incident, isNew, open: doorOf(incident, doors) }} />
    </article>
  )
}

function AlertLine({ alert, incident }: { readonly alert: AlertView; readonly incident: Incident }): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const { acknowledged_at: acknowledged, acknowledged_by: by, snoozed_until: snoozed } = alert
  return (
    <li>
      {incident.kind === 'agent' && alert.subject_kind === 'schedule' && (
        <>
          <Door to={doors.schedule(alert.subject_id)}>{alert.subject_name}</Door>:{' '}
        </>
      )}
      {alert.kind === 'failures_in_a_row' && alert.streak !== null ? (
        say('alerts.failing', { count: alert.streak, limit: String(alert.why.evidence['alert_after'] ?? '') })
      ) : (
        <Sentence why={alert.why} />
      )}
      {acknowledged !== null && (
        <span className="quiet small">
          {' '}
          · {say('alerts.acknowledgedBy', { by: by ?? '' })} <Time at={acknowledged} />
        </span>
      )}
      {snoozed !== null && (
        <span className="quiet small">
          {' '}
          · {say('alerts.snoozedUntil')} <Time at={snoozed} show="short" />
        </span>
      )}
    </li>
  )
}

interface ActionsProps {
  readonly incident: Incident
  readonly isNew: boolean
  readonly open: string | undefined
}

function Actions({ incident, isNew, open }: ActionsProps): ReactNode {
  const say = useSay()
  const { pause, retry, snooze, acknowledge, isPending } = useIncidentActions(incident)
  const usual = { size: 'xs', variant: 'default', disabled: isPending } as const
  return (
    <footer className="incident-actions">
      {open !== undefined && (
        <Door to={open} className="incident-open">
          {say('alerts.openCause')}
        </Door>
      )}
      {retry !== null && (
        <Permitted permission={retry.permission}>
          <Button {...usual} leftSection={<IconRefresh {...ICON} />} onClick={retry.run}>
            {say(retry.label)}
          </Button>
        </Permitted>
      )}
      {pause !== null && (
        <Permitted permission={pause.permission}>
          <Button {...usual} leftSection={<IconPlayerPause {...ICON} />} onClick={pause.run}>
            {say('alerts.pause')}
          </Button>
        </Permitted>
      )}
      <Menu>
        <Menu.Target>
          <Button {...usual} leftSection={<IconBellOff {...ICON} />}>
            {say('alerts.snooze')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {SNOOZES.map((length) => (
            <Permitted key={length} permission="schedules:run">
              <Menu.Item onClick={() => snooze(snoozeEnd(length, Date.now()))}>
                {say(`alerts.snooze.${length}`)}
              </Menu.Item>
            </Permitted>
          ))}
          {incident.alerts.some(({ snoozed_until: until }) => until !== null) && (
            <Permitted permission="schedules:run">
              <Menu.Item onClick={() => snooze(null)}>{say('alerts.unsnooze')}</Menu.Item>
            </Permitted>
          )}
        </Menu.Dropdown>
      </Menu>
      <Permitted permission="schedules:run">
        <Button {...usual} leftSection={<IconCheck {...ICON} />} onClick={() => acknowledge(isNew)}>
          {say(isNew ? 'alerts.acknowledge' : 'alerts.unacknowledge')}
        </Button>
      </Permitted>
    </footer>
  )
}

/** Where the cause is looked at. */
export function doorOf({ kind, id }: Pick<Incident, 'kind' | 'id'>, doors: Doors): string | undefined {
  if (kind === 'schedule') return doors.schedule(id)
  if (kind === 'agent') return doors.agent(id)
  if (kind === 'budget') return '/settings/limits'
  return kind === 'node' ? '/operations/nodes' : '/settings/targets'
}
