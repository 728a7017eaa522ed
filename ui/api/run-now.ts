import { useMutation } from '@tanstack/react-query'
import type { ScheduleView } from '../../src/features/schedules/schema.ts'
import { toast } from '../parts/toasts/toast-store.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { api } from './client.ts'
import { messageOf } from './refusal.ts'

/** Makes a run of a schedule now, and tells the person what came of it. */
export function useRunNow(): (schedule: Pick<ScheduleView, 'id' | 'name'>) => void {
  const say = useSay()
  const { mutate } = useMutation({
    mutationFn: ({ id }: Pick<ScheduleView, 'id' | 'name'>) => api.schedules.runNow(id),
    onSuccess: ({ ran }, { name }) => {
      toast({ tone: ran ? 'done' : 'failed', message: say(ran ? 'schedules.ran' : 'schedules.notRan', { name }) })
    },
    onError: (error) => {
      toast({ tone: 'failed', message: messageOf(error, say) })
    },
  })
  return mutate
}
