import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ScheduleView } from '../../../src/features/schedules/schema.ts'
import type { BulkAction, BulkAnswer } from '../../../src/features/schedules/views-schema.ts'
import { api } from '../../api/client.ts'
import { messageOf } from '../../api/refusal.ts'
import { toast } from '../../parts/toasts/toast-store.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { hide, unhide } from './pending-deletes.ts'

interface Bulk {
  readonly action: BulkAction
  readonly ids: readonly string[]
}

type Listed = Pick<ScheduleView, 'id' | 'enabled'>

/** Does one thing to several schedules, tells what came of it, and lets it be taken back for ten seconds. */
export function useBulk(): (action: BulkAction, schedules: readonly Listed[]) => void {
  const say = useSay()
  const queries = useQueryClient()
  const { mutateAsync } = useMutation({ mutationFn: (bulk: Bulk) => api.schedules.bulk(bulk) })
  const send = async (bulk: Bulk): Promise<BulkAnswer | null> => {
    try {
      const answer = await mutateAsync(bulk)
      const [refused] = answer.items.filter(({ ok }) => !ok)
      if (refused !== undefined)
        toast({
          tone: 'failed',
          message: say('schedules.refused', { count: answer.refused, message: refused.message ?? refused.code ?? '' }),
        })
      return answer
    } catch (error) {
      toast({ tone: 'failed', message: messageOf(error, say) })
      return null
    } finally {
      await queries.invalidateQueries({ queryKey: ['schedules'] })
    }
  }
  const remove = (ids: readonly string[]): void => {
    hide(ids)
    toast({
      ...{ tone: 'done', message: say('schedules.willDelete', { count: ids.length }) },
      undo: () => unhide(ids),
      settle: () => void send({ action: 'delete', ids }).finally(() => unhide(ids)),
    })
  }
  const switchAll = async (action: 'enable' | 'disable', schedules: readonly Listed[]): Promise<void> => {
    // Those that are already so are left alone, and are not touched by taking it back either.
    const ids = schedules.filter(({ enabled }) => enabled !== (action === 'enable')).map(({ id }) => id)
    const answer = ids.length === 0 ? null : await send({ action, ids })
    const changed = (answer?.items ?? []).filter(({ ok }) => ok).map(({ id }) => id)
    if (ids.length > 0 && changed.length === 0) return
    const back = action === 'enable' ? 'disable' : 'enable'
    const undo = (): void => void send({ action: back, ids: changed })
    const message = say(`schedules.done.${action}`, { count: changed.length })
    toast(changed.length === 0 ? { tone: 'done', message } : { tone: 'done', message, undo })
  }
  return (action, schedules) => {
    if (action === 'delete') remove(schedules.map(({ id }) => id))
    else void switchAll(action, schedules)
  }
}
