import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { AlertFilter } from '../../src/features/alerts/schema.ts'
import type { AuditFilter } from '../../src/features/audit/schema.ts'
import type { DeliveryFilter } from '../../src/features/deliveries/schema.ts'
import type { HeartbeatLogFilter } from '../../src/features/heartbeats/schema.ts'
import { api } from './client.ts'
import { PAGE_SIZE } from './queries.ts'

// What only the pages of the operation read; remembered as everything is, under `[group, operation, …arguments]`.

const MOST = 200
/** What a page shows of each thing beside its own. */
const FEW = 6
/** What no event tells about is asked again after this. */
const POLL_MS = 5_000
/** What runs down while one looks is asked again after this. */
const LIVE_MS = 2_000

/** Every lane, with what is in it. */
export const laneList = queryOptions({
  queryKey: ['lanes', 'list'],
  queryFn: ({ signal }) => api.lanes.list({ signal }),
})

/** The server processes, asked again and again: whether one is alive is a matter of seconds. */
export const nodeList = queryOptions({
  queryKey: ['nodes', 'list'],
  queryFn: ({ signal }) => api.nodes.list({ signal }),
  refetchInterval: POLL_MS,
})

/** Why a run is where it is. */
export const runExplanation = (id: string) =>
  queryOptions({
    queryKey: ['runs', 'get', id, 'explain'],
    queryFn: ({ signal }) => api.runs.explain(id, { signal }),
  })

const firstPage = null as string | null
const next = ({ next_cursor: cursor }: { readonly next_cursor: string | null }): string | null => cursor
const paged = <Filter extends object>(filter: Filter, cursor: string | null) => ({
  ...{ ...filter, limit: PAGE_SIZE },
  ...(cursor === null ? {} : { cursor }),
})

/** Deliveries, page after page. */
export const deliveryList = (filter: DeliveryFilter) =>
  infiniteQueryOptions({
    queryKey: ['deliveries', 'list', filter],
    queryFn: ({ pageParam, signal }) => api.deliveries.list(paged(filter, pageParam), { signal }),
    ...{ initialPageParam: firstPage, getNextPageParam: next, placeholderData: keepPreviousData },
  })

/** One delivery with its tries. */
export const deliveryOf = (id: string) =>
  queryOptions({
    queryKey: ['deliveries', 'get', id],
    queryFn: ({ signal }) => api.deliveries.get(id, { signal }),
  })

/** Alerts, page after page. */
export const alertPages = (filter: AlertFilter) =>
  infiniteQueryOptions({
    queryKey: ['alerts', 'pages', filter],
    queryFn: ({ pageParam, signal }) => api.alerts.list(paged(filter, pageParam), { signal }),
    ...{ initialPageParam: firstPage, getNextPageParam: next, placeholderData: keepPreviousData },
  })

/** What was changed, page after page. */
export const auditList = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit', 'list', filter],
    queryFn: ({ pageParam, signal }) => api.audit.list(paged(filter, pageParam), { signal }),
    ...{ initialPageParam: firstPage, getNextPageParam: next, placeholderData: keepPreviousData },
  })

/** Where results are delivered. */
export const targetList = queryOptions({
  queryKey: ['targets', 'list'],
  queryFn: ({ signal }) => api.targets.list({ limit: MOST }, { signal }),
})

/** What programs sign in with, newest first. */
export const keyList = queryOptions({
  queryKey: ['keys', 'list'],
  queryFn: ({ signal }) => api.keys.list({ limit: MOST }, { signal }),
})

/** The members of an org. */
export const memberList = (orgId: string) =>
  queryOptions({
    queryKey: ['members', 'list', orgId],
    queryFn: ({ signal }) => api.members.list(orgId, { limit: MOST }, { signal }),
  })

/** The tenants of the deployment. */
export const orgList = queryOptions({
  queryKey: ['orgs', 'list'],
  queryFn: ({ signal }) => api.orgs.list({ limit: MOST }, { signal }),
})

/** What runs may use. */
export const budgetList = queryOptions({
  queryKey: ['budgets', 'list'],
  queryFn: ({ signal }) => api.budgets.list({ limit: MOST }, { signal }),
})

/** How far the console looks ahead. */
export const FORECAST_DAYS = 30

/** What the next days will use. The plan moves slowly, and counting it is work. */
export const budgetForecast = queryOptions({
  queryKey: ['budgets', 'forecast', FORECAST_DAYS],
  queryFn: ({ signal }) => api.budgets.forecast({ days: FORECAST_DAYS }, { signal }),
  staleTime: 60_000,
})

/** What several agents call. How full its buckets are changes with every second, so it is asked again. */
export const providerList = queryOptions({
  queryKey: ['providers', 'list'],
  queryFn: ({ signal }) => api.providers.list({ limit: MOST }, { signal }),
  refetchInterval: LIVE_MS,
})

/** Every setting, and who has set it. */
export const configView = queryOptions({
  queryKey: ['config', 'get'],
  queryFn: ({ signal }) => api.config.get({ signal }),
})

/** One agent. */
export const agentOf = (id: string) =>
  queryOptions({
    queryKey: ['agents', 'get', id],
    queryFn: ({ signal }) => api.agents.get(id, { signal }),
  })

/** How the last runs of agents went: one request for all of them. */
export const outcomesOfAgents = (ids: readonly string[]) =>
  queryOptions({
    queryKey: ['runs', 'list', 'agents', ids],
    queryFn: ({ signal }) => api.agents.outcomes({ ids: ids.join(',') }, { signal }),
    enabled: ids.length > 0,
  })

/** How the runs of an agent went, day by day. */
export const agentStatsOf = (id: string) =>
  queryOptions({
    queryKey: ['stats', 'agent', id],
    queryFn: ({ signal }) => api.agents.stats(id, {}, { signal }),
  })

/** The newest sessions with an agent. */
export const sessionsOfAgent = (id: string) =>
  queryOptions({
    queryKey: ['sessions', 'list', 'agent', id],
    queryFn: ({ signal }) => api.sessions.list({ agent_id: id, limit: FEW }, { signal }),
  })

/** The heartbeat of an agent. */
export const heartbeatOf = (agentId: string) =>
  queryOptions({
    queryKey: ['heartbeat', 'get', agentId],
    queryFn: ({ signal }) => api.heartbeat.get(agentId, { signal }),
  })

/** What became of the heartbeats of an agent, page after page. */
export const heartbeatLog = (agentId: string, filter: HeartbeatLogFilter) =>
  infiniteQueryOptions({
    queryKey: ['heartbeat', 'log', agentId, filter],
    queryFn: ({ pageParam, signal }) => api.heartbeat.log(agentId, paged(filter, pageParam), { signal }),
    ...{ initialPageParam: firstPage, getNextPageParam: next, placeholderData: keepPreviousData },
  })

/** Secrets: values that agents may send but that cannot be read back. */
export const secretList = queryOptions({
  queryKey: ['secrets', 'list'],
  queryFn: ({ signal }) => api.secrets.list({ limit: MOST }, { signal }),
})

/** Where messages come from besides the API. How they fare changes without a word, so they are asked again. */
export const channelList = queryOptions({
  queryKey: ['channels', 'list'],
  queryFn: ({ signal }) => api.channels.list({ limit: MOST }, { signal }),
  refetchInterval: POLL_MS,
})
