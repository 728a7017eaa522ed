import { Button } from '@mantine/core'
import { IconEye, IconEyeOff, IconRefresh } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { api } from '../../api/client.ts'
import { messageOf } from '../../api/refusal.ts'
import { Confirm } from '../../forms/Confirm.tsx'
import { Copyable } from '../../parts/Copyable.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Permitted } from '../../parts/Permitted.tsx'
import { toast } from '../../parts/toasts/toast-store.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'

/** The signing secret of webhooks. It is read when “Show” is pressed and dropped when the page is left. */
export function SigningSecret(): ReactNode {
  const say = useSay()
  const [isAsking, setAsking] = useState(false)
  const onError = (error: unknown): void => toast({ tone: 'failed', message: messageOf(error, say) })
  const read = useMutation({ mutationFn: () => api.targets.signingSecret(), onError, gcTime: 0 })
  const rotate = useMutation({ ...{ onError, gcTime: 0 }, mutationFn: () => api.targets.rotateSecret() })
  const shown = rotate.data ?? read.data
  const hide = (): void => {
    read.reset()
    rotate.reset()
  }
  return (
    <Panel className="signing" title={say('signing.title')}>
      <p className="things-hint">{say('signing.hint')}</p>
      <div className="signing-row">
        {shown !== undefined && (
          <div className="signing-text">
            <code>{shown.secret}</code>
            <Copyable text={shown.secret} name={say('signing.title')} />
            {shown.previous_until !== null && (
              <span className="quiet small">
                {say('signing.both')} <Time at={shown.previous_until} show="short" />
              </span>
            )}
          </div>
        )}
        <Permitted permission="targets:write">
          <Button
            {...{
              variant: 'default',
              loading: read.isPending,
              onClick: shown === undefined ? () => read.mutate() : hide,
            }}
            leftSection={shown === undefined ? <IconEye size={14} aria-hidden /> : <IconEyeOff size={14} aria-hidden />}
          >
            {say(shown === undefined ? 'signing.show' : 'signing.hide')}
          </Button>
        </Permitted>
        <Permitted permission="targets:write">
          <Button
            {...{ variant: 'default', loading: rotate.isPending, leftSection: <IconRefresh size={14} aria-hidden /> }}
            onClick={() => setAsking(true)}
          >
            {say('signing.rotate')}
          </Button>
        </Permitted>
      </div>
      {isAsking && (
        <Confirm
          {...{ title: say('signing.rotate.title'), text: say('signing.rotate.text'), word: say('signing.rotate') }}
          {...{ confirm: () => rotate.mutate(), cancel: () => setAsking(false) }}
        />
      )}
    </Panel>
  )
}
