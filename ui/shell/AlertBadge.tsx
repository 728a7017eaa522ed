import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { incidentsOf, needsAttention } from '../api/incidents.ts'
import { openAlerts } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { useNow } from '../time/clock.ts'

const MINUTE_MS = 60_000
const MAX_SHOWN = 99

/** The number of incidents that need attention; nothing where there are none. */
export function AlertBadge(): ReactNode {
  const say = useSay()
  const now = useNow(MINUTE_MS)
  const { data } = useQuery({ ...openAlerts, enabled: useMay('runs:read') })
  const waiting = (data?.items ?? []).filter((alert) => needsAttention(alert, now))
  const count = incidentsOf(waiting, now).length
  if (count === 0) return null
  return (
    <span className="nav-badge">
      <span aria-hidden>{count > MAX_SHOWN ? `${MAX_SHOWN}+` : count}</span>
      <span className="visually-hidden">{say('nav.incidents', { count })}</span>
    </span>
  )
}
