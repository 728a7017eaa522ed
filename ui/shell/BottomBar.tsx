import { Menu } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ALERTS } from '../app/navigation.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { AlertBadge } from './AlertBadge.tsx'
import { usePlaces } from './use-places.ts'

/** The menu of small windows: the main pages, and the rest behind one button. */
export function BottomBar(): ReactNode {
  const say = useSay()
  const places = usePlaces().flatMap((group) => group.places)
  const rest = places.filter(({ isMain }) => isMain !== true)
  return (
    <nav className="bottom-bar" aria-label={say('nav.main')}>
      {places
        .filter(({ isMain }) => isMain === true)
        .map(({ path, icon: Icon, label }) => (
          <Link key={path} to={path} className="bottom-link" activeOptions={{ exact: path === '/' }}>
            <Icon size={20} stroke={1.7} aria-hidden />
            {say(label)}
          </Link>
        ))}
      {rest.length > 0 && (
        <Menu position="top-end">
          <Menu.Target>
            <button type="button" className="bottom-link">
              <IconDots size={20} aria-hidden />
              {say('nav.more')}
              {rest.some(({ path }) => path === ALERTS) && <AlertBadge />}
            </button>
          </Menu.Target>
          <Menu.Dropdown>
            {rest.map(({ path, icon: Icon, label }) => (
              <Menu.Item key={path} component={Link} to={path} leftSection={<Icon size={16} aria-hidden />}>
                {say(label)}
                {path === ALERTS && <AlertBadge />}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </nav>
  )
}
