import { IconCalendarTime, IconLayoutDashboard, IconListDetails, IconMessages } from '@tabler/icons-react'
import type { PermissionName } from '../../src/contract/me.ts'
import type { PlainKey } from '../texts/fill.ts'

/** A page that the menu leads to. */
export interface Place {
  readonly path: string
  readonly label: PlainKey
  readonly icon: typeof IconLayoutDashboard
  /** Whoever lacks it is not shown the way. */
  readonly permission: PermissionName
  /** Pressed after `g`. */
  readonly key?: string
  /** Whether it has a place in the bar at the bottom of small windows; the others are behind "more". */
  readonly isMain?: boolean
}

/** Pages under one heading; without one they stand for themselves. */
export interface PlaceGroup {
  readonly heading: PlainKey | null
  readonly places: readonly Place[]
}

/** The menu, in its order. A page is a line here and a route in app/routes.ts. */
export const NAVIGATION: readonly PlaceGroup[] = [
  {
    heading: null,
    places: [
      {
        ...{ path: '/', label: 'nav.overview', icon: IconLayoutDashboard, permission: 'runs:read', key: 'o' },
        isMain: true,
      },
    ],
  },
  {
    heading: 'nav.automation',
    places: [
      {
        ...{ path: '/automation/schedules', label: 'nav.schedules', icon: IconCalendarTime },
        ...{ permission: 'schedules:read', key: 's', isMain: true },
      },
      {
        ...{ path: '/automation/runs', label: 'nav.runs', icon: IconListDetails },
        ...{ permission: 'runs:read', key: 'r', isMain: true },
      },
    ],
  },
  {
    heading: null,
    places: [
      { path: '/chat', label: 'nav.chat', icon: IconMessages, permission: 'sessions:read', key: 'c', isMain: true },
    ],
  },
]
