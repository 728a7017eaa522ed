import { Button, Modal } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api } from '../../../api/client.ts'
import { messageOf } from '../../../api/refusal.ts'
import { toast } from '../../../parts/toasts/toast-store.ts'
import { useSay } from '../../../texts/TextProvider.tsx'

interface CancelBackfillProps {
  readonly id: string
  readonly close: () => void
}

/** Asks what is to become of the runs that work. */
export function CancelBackfill({ id, close }: CancelBackfillProps): ReactNode {
  const say = useSay()
  const queries = useQueryClient()
  const { mutate, isPending } = useMutation({
    mutationFn: (running: 'finish' | 'cancel') => api.backfills.cancel(id, { running }),
    onSuccess: () => toast({ tone: 'done', message: say('backfill.cancelled') }),
    onError: (error) => toast({ tone: 'failed', message: messageOf(error, say) }),
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ['backfills'] })
      close()
    },
  })
  return (
    <Modal
      {...{ opened: true, onClose: close, title: say('backfill.cancel.title') }}
      closeButtonProps={{ 'aria-label': say('action.close') }}
    >
      <p>{say('backfill.cancel.text')}</p>
      <div className="modal-foot">
        <Button variant="default" disabled={isPending} onClick={() => mutate('finish')}>
          {say('backfill.cancel.finish')}
        </Button>
        <Button color="red" disabled={isPending} onClick={() => mutate('cancel')}>
          {say('backfill.cancel.all')}
        </Button>
      </div>
    </Modal>
  )
}
