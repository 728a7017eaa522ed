import { Button, Tooltip } from '@mantine/core'
import { IconPlayerStopFilled, IconHandStop } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { StopAnswer } from '../../../src/features/sessions/schema.ts'
import { api } from '../../api/client.ts'
import { messageOf } from '../../api/refusal.ts'
import { Permitted } from '../../parts/Permitted.tsx'
import { toast } from '../../parts/toasts/toast-store.ts'
import { useSay } from '../../texts/TextProvider.tsx'

/** Stops what is being answered, or everything. There while something runs or waits. */
export function StopButtons({ sessionKey }: { readonly sessionKey: string }): ReactNode {
  const say = useSay()
  const queries = useQueryClient()
  const tell = ({ stopped, drained }: StopAnswer): string =>
    stopped + drained === 0
      ? say('chat.nothingToStop')
      : drained === 0
        ? say('chat.stopped', { count: stopped })
        : say('chat.stoppedAll', { stopped, drained })
  const { mutate, isPending } = useMutation({
    mutationFn: (how: 'stop' | 'stopAll') => api.sessions[how](sessionKey),
    onSuccess: (answer) => toast({ tone: 'done', message: tell(answer) }),
    onError: (error) => toast({ tone: 'failed', message: messageOf(error, say) }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['sessions'] }),
  })
  return (
    <>
      <Tooltip label={say('chat.stopHint')}>
        <span>
          <Permitted permission="sessions:write">
            <Button
              {...{ variant: 'default', disabled: isPending, onClick: () => mutate('stop') }}
              leftSection={<IconPlayerStopFilled size={14} aria-hidden />}
            >
              {say('chat.stop')}
            </Button>
          </Permitted>
        </span>
      </Tooltip>
      <Tooltip label={say('chat.stopAllHint')}>
        <span>
          <Permitted permission="sessions:write">
            <Button
              {...{ variant: 'default', disabled: isPending, onClick: () => mutate('stopAll') }}
              leftSection={<IconHandStop size={14} aria-hidden />}
            >
              {say('chat.stopAll')}
            </Button>
          </Permitted>
        </span>
      </Tooltip>
    </>
  )
}
