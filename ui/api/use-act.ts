import { useMutation, useQueryClient, type QueryKey } from '@tanstack/react-query'
import { toast } from '../parts/toasts/toast-store.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { messageOf } from './refusal.ts'

interface Act<Input, Answer> {
  readonly act: (input: Input) => Promise<Answer>
  /** What is read anew afterwards. */
  readonly touches: readonly QueryKey[]
  /** What the person is told; the tone is that of a failure where it was none of the server's. */
  readonly told: (answer: Answer, input: Input) => { readonly tone: 'done' | 'failed'; readonly message: string }
}

/** Runs the action of a button and shows its outcome in a toast, also when it was refused. */
export function useAct<Input, Answer>({
  act,
  touches,
  told,
}: Act<Input, Answer>): {
  readonly run: (input: Input) => void
  readonly isPending: boolean
} {
  const say = useSay()
  const queryClient = useQueryClient()
  const { mutate, isPending } = useMutation({
    mutationFn: act,
    onSuccess: (answer, input) => {
      for (const queryKey of touches) void queryClient.invalidateQueries({ queryKey })
      toast(told(answer, input))
    },
    onError: (error) => {
      toast({ tone: 'failed', message: messageOf(error, say) })
    },
  })
  return { run: mutate, isPending }
}
