import {
  IconTimelineEventText,
  IconBellRinging,
  IconCalendarTime,
  IconFileCode,
  IconHeartbeat,
  IconHelpCircle,
  IconHistory,
  IconLayoutDashboard,
  IconListDetails,
  IconMessages,
  IconRobot,
  IconSend,
  IconServer2,
  IconSettings,
  IconStack2,
} from '@tabler/icons-react'
import type { PermissionName } from '../../src/features/access/schema.ts'
import type { PlainKey } from '../texts/fill.ts'

/** A page that the menu leads to. */
export interface Place {
  readonly path: string
  readonly label: PlainKey
  readonly icon: typeof IconLayoutDashboard
  /** The entry is hidden without this permission. */
  readonly permission: PermissionName
  /** Pressed after `g`. */
  readonly key?: string
  /** Whether pages below it have a place of their own. */
  readonly isExact?: boolean
  /** Whether it has a place in the bar at the bottom of small windows; the others are behind "more". */
  readonly isMain?: boolean
}

/** Pages under one heading; without one they stand for themselves. */
export interface PlaceGroup {
  readonly heading: PlainKey | null
  readonly places: readonly Place[]
}

/** The page of incidents, whose number the menu shows. */
export const ALERTS = '/operations/alerts'

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
      { path: '/automation/queue', label: 'nav.queue', icon: IconStack2, permission: 'runs:read', key: 'q' },
      { path: '/automation/why', label: 'nav.explain', icon: IconHelpCircle, permission: 'runs:read', key: 'w' },
      {
        ...{ path: '/automation/simulate', label: 'nav.simulate', icon: IconTimelineEventText },
        ...{ permission: 'schedules:read', key: 'm' },
      },
      { path: '/automation/as-code', label: 'nav.asCode', icon: IconFileCode, permission: 'schedules:read', key: 'y' },
    ],
  },
  {
    heading: null,
    places: [
      { path: '/chat', label: 'nav.chat', icon: IconMessages, permission: 'sessions:read', key: 'c', isMain: true },
    ],
  },
  {
    heading: 'nav.agents',
    places: [
      {
        ...{ path: '/agents', label: 'nav.agents', icon: IconRobot, permission: 'agents:read', key: 'a' },
        isExact: true,
      },
      { path: '/agents/heartbeats', label: 'nav.heartbeats', icon: IconHeartbeat, permission: 'agents:read', key: 'h' },
    ],
  },
  {
    heading: 'nav.operations',
    places: [
      { path: '/operations/deliveries', label: 'nav.deliveries', icon: IconSend, permission: 'runs:read', key: 'd' },
      { path: ALERTS, label: 'nav.alerts', icon: IconBellRinging, permission: 'runs:read', key: 'l' },
      { path: '/operations/audit', label: 'nav.audit', icon: IconHistory, permission: 'audit:read', key: 'u' },
      { path: '/operations/nodes', label: 'nav.nodes', icon: IconServer2, permission: 'admin:*', key: 'n' },
    ],
  },
  {
    heading: null,
    places: [{ path: '/settings', label: 'nav.settings', icon: IconSettings, permission: 'targets:read', key: ',' }],
  },
]
