import { infiniteQueryOptions, keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { api } from '../../../api/client.ts'
import { PAGE_SIZE } from '../../../api/queries.ts'
import { rowOf, type RunRow, type RunRowPage } from '../run-row.ts'
import { followRuns } from '../follow-runs.ts'
import type { RunLog } from './run-log.ts'
import { filterOf, type RunSearch } from '../run-search.ts'

async function readPage(search: RunSearch, cursor: string | null, signal?: AbortSignal): Promise<RunRowPage> {
  const filter = { ...filterOf(search, Date.now()), limit: PAGE_SIZE, ...(cursor === null ? {} : { cursor }) }
  const page = await api.runs.list(filter, signal === undefined ? {} : { signal })
  return { ...page, items: page.items.map(rowOf) }
}

// Not under ['runs', 'list']: each event would read again every page that has been scrolled to.
const runLog = (search: RunSearch) =>
  infiniteQueryOptions({
    queryKey: ['runs', 'log', search],
    queryFn: ({ pageParam, signal }) => readPage(search, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: next }) => next,
    placeholderData: keepPreviousData,
    // Going back restores the list where it was left; only its first page is read again.
    staleTime: Infinity,
  })

/** Beyond this scroll position new rows are held back, so that the list does not move while it is read. */
const AT_TOP = 240
const isAtTop = (): boolean => scrollY < AT_TOP

/**
 * Runs, page after page as one scrolls, and live. New runs come in while one is at the top; further down they are only
 * counted, and wait until one comes back.
 */
export function useRunLog(search: RunSearch) {
  const list = useInfiniteQuery(runLog(search))
  const front = useFront(search)
  const rows = useMemo((): readonly RunRow[] => (list.data?.pages ?? []).flatMap(({ items }) => items), [list.data])
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  return { list, rows, more, ...front }
}

function useFront(search: RunSearch): { readonly newer: number; readonly show: () => void } {
  const queries = useQueryClient()
  const [newer, setNewer] = useState(0)
  const asked = JSON.stringify(search)
  useEffect(() => {
    const wanted = JSON.parse(asked) as RunSearch
    const { queryKey } = runLog(wanted)
    const { look, stop } = followRuns({
      ...{ isAtTop, tellNew: setNewer, wanted: wanted.status?.split(',') ?? null },
      read: () => readPage(wanted, null),
      current: () => queries.getQueryData<RunLog>(queryKey),
      put: (change) => void queries.setQueryData<RunLog>(queryKey, (log) => log && change(log)),
    })
    addEventListener('scroll', look, { passive: true })
    return () => {
      removeEventListener('scroll', look)
      stop()
      setNewer(0)
    }
  }, [queries, asked])
  return { newer, show: () => scrollTo({ top: 0 }) }
}
