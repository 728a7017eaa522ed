import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'

/** One run with everything there is to know about it. */
export const runOf = (id: string) =>
  queryOptions({ queryKey: ['runs', 'get', id], queryFn: ({ signal }) => api.runs.get(id, { signal }) })

const LOOK_AGAIN_MS = 4_000

/** Why a run is where it is. Of one that waits it changes as others move on, which no event tells. */
export const explanationOf = (id: string, waits: boolean) =>
  queryOptions({
    // Below the run itself, so that what makes it old makes this old too.
    queryKey: ['runs', 'get', id, 'explain'],
    queryFn: ({ signal }) => api.runs.explain(id, { signal }),
    refetchInterval: waits ? LOOK_AGAIN_MS : false,
  })

const CHILDREN = 50

/** Where a run comes from, and the first of what it made. */
export const lineageOf = (id: string) =>
  queryOptions({
    queryKey: ['runs', 'get', id, 'lineage'],
    queryFn: ({ signal }) => api.runs.lineage(id, { limit: CHILDREN }, { signal }),
  })

/** What a run or a schedule made, page after page. */
export const lineagePages = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['runs', 'get', id, 'children'],
    queryFn: ({ pageParam, signal }) =>
      api.runs.lineage(id, { limit: CHILDREN, ...(pageParam === null ? {} : { cursor: pageParam }) }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: next }) => next,
  })
