import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { messageOf } from '../../api/refusal.ts'
import { toast } from '../../parts/toasts/toast-store.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { endUnsaved } from './queries.ts'
import { useSender } from './use-sender.ts'

/** Says something in a session. */
export interface Sending {
  /** Answers with whether it arrived. */
  readonly send: (text: string) => Promise<boolean>
  /** What is on its way. */
  readonly sending: string | null
}

/** Sends messages; what became of one that made room for itself is told. */
export function useSend(key: string): Sending {
  const say = useSay()
  const queries = useQueryClient()
  const sender = useSender()
  const { mutateAsync, isPending, variables } = useMutation({
    mutationFn: (text: string) => api.sessions.send(key, { text, ...(sender === undefined ? {} : { sender }) }),
    onSuccess: () => endUnsaved(key),
    onSettled: () => queries.invalidateQueries({ queryKey: ['sessions'] }),
  })
  const send = async (text: string): Promise<boolean> => {
    try {
      const answer = await mutateAsync(text)
      if ('dropped_run_id' in answer) toast({ tone: 'failed', message: say('chat.droppedOther') })
      return true
    } catch (error) {
      toast({ tone: 'failed', message: messageOf(error, say) })
      return false
    }
  }
  return { send, sending: isPending ? variables : null }
}
