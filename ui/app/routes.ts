import { createRootRoute, createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { hasLinkToken } from '../api/link-token.ts'
import { queryClient } from '../api/query-client.ts'
import { isSignedOut } from '../api/refusal.ts'
import { meQuery } from '../api/session.ts'
import { NotFound } from '../shell/NotFound.tsx'
import { PageCrash } from '../shell/PageCrash.tsx'
import { Shell } from '../shell/Shell.tsx'
import { readAgentSearch } from '../pages/agents/agent-search.ts'
import { readAsCodeSearch } from '../pages/as-code/as-code-search.ts'
import { readHeartbeatSearch } from '../pages/heartbeats/heartbeat-search.ts'
import { readAlertSearch } from '../pages/alerts/alert-search.ts'
import { readAuditSearch } from '../pages/audit/audit-search.ts'
import { readDeliverySearch } from '../pages/deliveries/delivery-search.ts'
import { readSettingsSearch } from '../forms/settings-search.ts'
import { readEditorSearch } from '../editor/form/editor-search.ts'
import { readChatSearch } from '../pages/sessions/session-search.ts'
import { readExplainSearch } from '../pages/explain/explain-search.ts'
import { readRunSearch } from '../pages/runs/run-search.ts'
import { readScheduleOneSearch } from '../pages/schedules/one/one-search.ts'
import { readScheduleSearch } from '../pages/schedules/schedule-search.ts'
import { readSimulateSearch } from '../pages/simulation/simulation-search.ts'

const root = createRootRoute({ notFoundComponent: NotFound })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: ({ then, expired }: Readonly<Record<string, unknown>>) => ({
    // Only a path of this console, so that a link cannot redirect to another site.
    ...(typeof then === 'string' && /^\/(?![/\\])/.test(then) ? { then } : {}),
    ...(expired === true ? { expired } : {}),
  }),
  component: lazyRouteComponent(() => import('../pages/access/SignInPage.tsx'), 'SignInPage'),
})

/** Every page that requires a session; without one it redirects to the sign-in, which returns to the page. */
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  // The editor of schedules opens above every page.
  validateSearch: readEditorSearch,
  beforeLoad: async ({ location }) => {
    const then = location.href === '/' ? {} : { then: location.href }
    if (hasLinkToken()) throw redirect({ to: '/sign-in', search: then })
    await queryClient.query({ ...meQuery, staleTime: 'static' }).catch((error: unknown) => {
      throw isSignedOut(error) ? redirect({ to: '/sign-in', search: then }) : (error as Error)
    })
  },
  component: Shell,
  errorComponent: PageCrash,
})

const overview = createRoute({
  getParentRoute: () => shell,
  path: '/',
  component: lazyRouteComponent(() => import('../pages/overview/OverviewPage.tsx'), 'OverviewPage'),
})

const schedules = createRoute({
  getParentRoute: () => shell,
  path: '/automation/schedules',
  validateSearch: readScheduleSearch,
  component: lazyRouteComponent(() => import('../pages/schedules/SchedulesPage.tsx'), 'SchedulesPage'),
})

const scheduleOne = createRoute({
  getParentRoute: () => shell,
  path: '/automation/schedules/$id',
  validateSearch: readScheduleOneSearch,
  component: lazyRouteComponent(() => import('../pages/schedules/one/SchedulePage.tsx'), 'SchedulePage'),
})

const runs = createRoute({
  getParentRoute: () => shell,
  path: '/automation/runs',
  validateSearch: readRunSearch,
  component: lazyRouteComponent(() => import('../pages/runs/RunsPage.tsx'), 'RunsPage'),
})

const runOne = createRoute({
  getParentRoute: () => shell,
  path: '/automation/runs/$id',
  validateSearch: ({
    raw,
    compare,
  }: Readonly<Record<string, unknown>>): { readonly raw?: true; readonly compare?: string } => ({
    ...(raw === true ? { raw } : {}),
    ...(typeof compare === 'string' ? { compare } : {}),
  }),
  component: lazyRouteComponent(() => import('../pages/runs/one/RunPage.tsx'), 'RunPage'),
})

const chat = createRoute({
  getParentRoute: () => shell,
  path: '/chat',
  validateSearch: readChatSearch,
  component: lazyRouteComponent(() => import('../pages/sessions/ChatPage.tsx'), 'ChatPage'),
})

const conversation = createRoute({
  getParentRoute: () => shell,
  path: '/chat/$key',
  validateSearch: readChatSearch,
  component: lazyRouteComponent(() => import('../pages/sessions/ConversationPage.tsx'), 'ConversationPage'),
})

const automation = createRoute({
  getParentRoute: () => shell,
  path: '/automation',
  beforeLoad: () => {
    throw redirect({ to: '/automation/schedules' })
  },
})

const queue = createRoute({
  getParentRoute: () => shell,
  path: '/automation/queue',
  component: lazyRouteComponent(() => import('../pages/lanes/QueuePage.tsx'), 'QueuePage'),
})

const simulate = createRoute({
  getParentRoute: () => shell,
  path: '/automation/simulate',
  validateSearch: readSimulateSearch,
  component: lazyRouteComponent(() => import('../pages/simulation/SimulationPage.tsx'), 'SimulatePage'),
})

const asCode = createRoute({
  getParentRoute: () => shell,
  path: '/automation/as-code',
  validateSearch: readAsCodeSearch,
  component: lazyRouteComponent(() => import('../pages/as-code/AsCodePage.tsx'), 'AsCodePage'),
})

const why = createRoute({
  getParentRoute: () => shell,
  path: '/automation/why',
  validateSearch: readExplainSearch,
  component: lazyRouteComponent(() => import('../pages/explain/ExplainPage.tsx'), 'ExplainPage'),
})

const agents = createRoute({
  getParentRoute: () => shell,
  path: '/agents',
  validateSearch: readAgentSearch,
  component: lazyRouteComponent(() => import('../pages/agents/AgentsPage.tsx'), 'AgentsPage'),
})

const heartbeats = createRoute({
  getParentRoute: () => shell,
  path: '/agents/heartbeats',
  validateSearch: readHeartbeatSearch,
  component: lazyRouteComponent(() => import('../pages/heartbeats/HeartbeatsPage.tsx'), 'HeartbeatsPage'),
})

const operations = createRoute({
  getParentRoute: () => shell,
  path: '/operations',
  beforeLoad: () => {
    throw redirect({ to: '/operations/deliveries' })
  },
})

const deliveries = createRoute({
  getParentRoute: () => shell,
  path: '/operations/deliveries',
  validateSearch: readDeliverySearch,
  component: lazyRouteComponent(() => import('../pages/deliveries/DeliveriesPage.tsx'), 'DeliveriesPage'),
})

const alerts = createRoute({
  getParentRoute: () => shell,
  path: '/operations/alerts',
  validateSearch: readAlertSearch,
  component: lazyRouteComponent(() => import('../pages/alerts/AlertsPage.tsx'), 'AlertsPage'),
})

const audit = createRoute({
  getParentRoute: () => shell,
  path: '/operations/audit',
  validateSearch: readAuditSearch,
  component: lazyRouteComponent(() => import('../pages/audit/AuditPage.tsx'), 'AuditPage'),
})

const nodes = createRoute({
  getParentRoute: () => shell,
  path: '/operations/nodes',
  component: lazyRouteComponent(() => import('../pages/nodes/NodesPage.tsx'), 'NodesPage'),
})

const settings = createRoute({
  getParentRoute: () => shell,
  path: '/settings',
  beforeLoad: () => {
    throw redirect({ to: '/settings/$section', params: { section: 'targets' } })
  },
})

const settingsSection = createRoute({
  getParentRoute: () => shell,
  path: '/settings/$section',
  validateSearch: readSettingsSearch,
  component: lazyRouteComponent(() => import('../pages/settings/SettingsPage.tsx'), 'SettingsPage'),
})

/** Every address of the console. A page is a route here, loaded when it is first visited, and a line in navigation.ts. */
export const routeTree = root.addChildren([
  signIn,
  shell.addChildren([
    overview,
    automation,
    schedules,
    scheduleOne,
    runs,
    runOne,
    chat,
    conversation,
    queue,
    why,
    simulate,
    asCode,
    agents,
    heartbeats,
    operations,
    deliveries,
    alerts,
    audit,
    nodes,
    settings,
    settingsSection,
  ]),
])
