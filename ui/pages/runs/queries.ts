import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'

/** One run with everything there is to know about it. */
export const runOf = (id: string) =>
  queryOptions({ queryKey: ['runs', 'get', id], queryFn: ({ signal }) => api.runs.get(id, { signal }) })

const LOOK_AGAIN_MS = 4_000

/** Why a run that has not ended is where it is. It changes as others move on, which no event tells. */
export const explanationOf = (id: string) =>
  queryOptions({
    // Below the run itself, so that what makes it old makes this old too.
    queryKey: ['runs', 'get', id, 'explain'],
    queryFn: ({ signal }) => api.runs.explain(id, { signal }),
    refetchInterval: LOOK_AGAIN_MS,
  })
