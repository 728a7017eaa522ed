import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query'
import type { RetryInput, RunView } from '../../src/features/runs/schema.ts'
import type { PermissionName } from '../../src/features/access/schema.ts'
import { toast } from '../parts/toasts/toast-store.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { api } from './client.ts'
import { messageOf } from './refusal.ts'

interface Retried extends Pick<RunView, 'id' | 'status'> {
  /** What to change; left out: nothing. */
  readonly edits?: RetryInput
}

const PENDING = new Set(['waiting', 'queued', 'assigned', 'running', 'awaiting_callback', 'stopping'])

/** Whether a run has not come to its end. */
export const isPending = ({ status }: Pick<RunView, 'status'>): boolean => PENDING.has(status)

/** What one must hold to let a run be done again: that of a schedule is its schedule's. */
export const retryPermission = ({ schedule_id: schedule }: Pick<RunView, 'schedule_id'>): PermissionName =>
  schedule === null ? 'runs:write' : 'schedules:run'

/** Makes a run again, also one that went well, and answers with the new one. */
export function useRetry(): UseMutationResult<RunView, Error, Retried> {
  const say = useSay()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ id, status, edits }: Retried) =>
      api.runs.retry(id, { ...edits, ...(status === 'success' ? { force: true } : {}) }),
    onSuccess: () => {
      toast({ tone: 'done', message: say('runs.retried') })
      return queries.invalidateQueries({ queryKey: ['runs', 'list'] })
    },
    onError: (error) => toast({ tone: 'failed', message: messageOf(error, say) }),
  })
}

/** Ends a run. */
export function useCancel(): UseMutationResult<RunView, Error, Pick<RunView, 'id'>> {
  const say = useSay()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ id }: Pick<RunView, 'id'>) => api.runs.cancel(id),
    onSuccess: ({ status }) => {
      toast({ tone: 'done', message: say(status === 'stopping' ? 'runs.stopping' : 'runs.cancelled') })
    },
    onError: (error) => toast({ tone: 'failed', message: messageOf(error, say) }),
    onSettled: (_run, _error, { id }) => queries.invalidateQueries({ queryKey: ['runs', 'get', id] }),
  })
}
