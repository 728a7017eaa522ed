import { useCallback, useMemo } from 'react'

interface Pages<Row> {
  readonly data: { readonly pages: readonly { readonly items: readonly Row[] }[] } | undefined
  readonly hasNextPage: boolean
  readonly isFetchingNextPage: boolean
  readonly fetchNextPage: () => unknown
}

/** The rows of all pages that were read, and how the next one is. */
export function usePages<Row>(list: Pages<Row>): { readonly rows: readonly Row[]; readonly more: () => void } {
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = list
  const rows = useMemo(() => (data?.pages ?? []).flatMap(({ items }) => items), [data])
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  return { rows, more }
}
