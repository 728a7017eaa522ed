import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { RunFilter } from '../../src/features/runs/schema.ts'
import type { ScheduleFilter, ScheduleView } from '../../src/features/schedules/schema.ts'
import type { SeriesFilter, StatsFilter, TimelineFilter } from '../../src/features/stats/schema.ts'
import { api } from './client.ts'
import { readOutcomes } from './outcomes.ts'

// What is read is remembered under `[group, operation, …arguments]`; api/touched.ts says which events make it old.

/** How much of a list comes at once. */
export const PAGE_SIZE = 100

/** Schedules, page after page as one scrolls. */
export const scheduleList = (filter: ScheduleFilter) =>
  infiniteQueryOptions({
    queryKey: ['schedules', 'list', filter],
    queryFn: ({ pageParam, signal }) =>
      api.schedules.list(
        { ...filter, limit: PAGE_SIZE, ...(pageParam === null ? {} : { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: next }) => next,
    placeholderData: keepPreviousData,
  })

/** One page of schedules. */
export const schedulePage = (filter: ScheduleFilter) =>
  queryOptions({
    queryKey: ['schedules', 'list', 'page', filter],
    queryFn: ({ signal }) => api.schedules.list(filter, { signal }),
    placeholderData: keepPreviousData,
  })

/** One schedule. */
export const scheduleOf = (id: string) =>
  queryOptions({
    queryKey: ['schedules', 'get', id],
    queryFn: ({ signal }) => api.schedules.get(id, { signal }),
  })

/** How the last runs of a schedule ended; those of all rows on screen are read at once. */
export const outcomesOf = (id: string) =>
  queryOptions({
    queryKey: ['schedules', 'runs', id, 'outcomes'],
    queryFn: () => readOutcomes(id),
  })

/** One page of runs. */
export const runPage = (filter: Omit<RunFilter, 'status'> & { readonly status?: string }) =>
  queryOptions({
    queryKey: ['runs', 'list', filter],
    queryFn: ({ signal }) => api.runs.list(filter, { signal }),
    placeholderData: keepPreviousData,
  })

/** How work went, and what waits. */
export const statsOf = (filter: StatsFilter = {}) =>
  queryOptions({
    queryKey: ['stats', 'get', filter],
    queryFn: ({ signal }) => api.stats.get(filter, { signal }),
    placeholderData: keepPreviousData,
  })

/** How work went, step by step. */
export const seriesOf = (filter: SeriesFilter = {}) =>
  queryOptions({
    queryKey: ['stats', 'series', filter],
    queryFn: ({ signal }) => api.stats.series(filter, { signal }),
    placeholderData: keepPreviousData,
  })

/** How many rows of the timeline come at once. */
const TIMELINE_ROWS = 50

/** The timeline is read again so often while it shows now; every event would be too often. */
const TIMELINE_EVERY_MS = 10_000

/** Runs per bucket and outcome, and what is planned, row after row as one scrolls. */
export const timelineOf = (filter: TimelineFilter, isCurrent: boolean) =>
  infiniteQueryOptions({
    queryKey: ['timeline', filter],
    queryFn: ({ pageParam, signal }) =>
      api.stats.timeline(
        { ...filter, limit: TIMELINE_ROWS, ...(pageParam === null ? {} : { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: next }) => next,
    placeholderData: keepPreviousData,
    refetchInterval: isCurrent ? TIMELINE_EVERY_MS : false,
  })

/** Agents, for choices. */
export const agentList = queryOptions({
  queryKey: ['agents', 'list'],
  queryFn: ({ signal }) => api.agents.list({ limit: 200 }, { signal }),
})

/** Alerts that are open. */
export const openAlerts = queryOptions({
  queryKey: ['alerts', 'list', { status: 'open' }],
  queryFn: ({ signal }) => api.alerts.list({ status: 'open', limit: 20 }, { signal }),
})

const TIMING = [
  'at',
  'every_seconds',
  'everyMs',
  'anchor',
  'cron',
  'dst',
  'day_match',
  'rrule',
  'starts_at',
  'ends_at',
] as const

/** The coming occurrences of a schedule: as many as can be shown, from when its next one is. */
export const comingOf = (schedule: ScheduleView, count: number) =>
  queryOptions({
    queryKey: ['schedules', 'coming', schedule.id, schedule.version, schedule.next_run_at, count],
    queryFn: async ({ signal }) => {
      const timing = Object.fromEntries(TIMING.flatMap((name) => (name in schedule ? [[name, schedule[name]]] : [])))
      const { timezone, exclude } = schedule
      const asked = { ...timing, timezone, ...(exclude === undefined ? {} : { exclude }), count }
      const { next } = await api.schedules.preview(asked, { signal })
      return next.map((at) => Date.parse(at))
    },
    enabled: schedule.state === 'active' && schedule.next_run_at !== null,
  })
