import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { SimulateAnswer, SimulateInput } from '../../src/features/simulation/schema.ts'
import { api } from '../api/client.ts'

/** A simulation that is asked for, is computed, or is there. */
export interface Simulation {
  /** What was answered; what was answered before stays while the next one is computed. */
  readonly answer: SimulateAnswer | undefined
  readonly error: unknown
  readonly isComputing: boolean
  /** The answer is about something that was asked before. */
  readonly isOld: boolean
  /** From 0 to 1. */
  readonly progress: number
  readonly cancel: () => void
  readonly retry: () => void
}

/** Asks what would happen; null: nothing is asked. The same question is not computed twice, and a new one ends the old. */
export function useSimulation(input: SimulateInput | null): Simulation {
  const client = useQueryClient()
  const [progress, setProgress] = useState(0)
  // Not under `schedules`: an answer does not become wrong because something has changed meanwhile.
  const queryKey = ['simulations', input]
  const query = useQuery({
    ...{ queryKey, enabled: input !== null, staleTime: Infinity, retry: false, placeholderData: keepPreviousData },
    queryFn: ({ signal }) => {
      setProgress(0)
      return api.simulate(input ?? {}, {
        signal,
        onProgress: ({ done, total }) => setProgress(total === 0 ? 0 : done / total),
      })
    },
  })
  return {
    answer: query.data,
    error: query.error,
    isComputing: query.isFetching,
    isOld: query.isPlaceholderData,
    progress,
    cancel: () => void client.cancelQueries({ queryKey }),
    retry: () => void query.refetch(),
  }
}
