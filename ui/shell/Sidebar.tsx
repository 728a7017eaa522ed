import { ActionIcon, Tooltip } from '@mantine/core'
import { IconLayoutSidebarLeftCollapse, IconLayoutSidebarLeftExpand } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ALERTS, type Place } from '../app/navigation.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { AlertBadge } from './AlertBadge.tsx'
import { Brand } from './Brand.tsx'
import { usePlaces } from './use-places.ts'

interface RailProps {
  readonly isNarrow: boolean
  readonly toggle: () => void
}

/** The menu on the left: icons with labels, or icons alone. */
export function Rail({ isNarrow, toggle }: RailProps): ReactNode {
  const say = useSay()
  const word = say(isNarrow ? 'nav.expand' : 'nav.collapse')
  const Icon = isNarrow ? IconLayoutSidebarLeftExpand : IconLayoutSidebarLeftCollapse
  return (
    <nav className="rail" data-narrow={isNarrow} aria-label={say('nav.main')}>
      <Brand />
      <div className="rail-places">
        {usePlaces().map(({ heading, places }) => (
          <div key={heading ?? ''} className="rail-group">
            {heading !== null && <div className="rail-heading">{say(heading)}</div>}
            {places.map((place) => (
              <RailLink key={place.path} place={place} isNarrow={isNarrow} />
            ))}
          </div>
        ))}
      </div>
      <Tooltip label={word} position="right">
        <ActionIcon className="rail-toggle" aria-label={word} aria-expanded={!isNarrow} onClick={toggle}>
          <Icon size={18} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </nav>
  )
}

function RailLink({ place, isNarrow }: { readonly place: Place; readonly isNarrow: boolean }): ReactNode {
  const say = useSay()
  const label = say(place.label)
  return (
    <Tooltip label={label} position="right" disabled={!isNarrow}>
      <Link
        to={place.path}
        className="rail-link"
        activeOptions={{ exact: place.path === '/' || place.isExact === true }}
      >
        <place.icon size={18} stroke={1.7} aria-hidden />
        <span className="rail-label">{label}</span>
        {place.path === ALERTS && <AlertBadge />}
      </Link>
    </Tooltip>
  )
}
