import { ActionIcon } from '@mantine/core'
import { IconPlayerStop, IconRefresh } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { isPending, retryPermission, useCancel, useRetry } from '../../api/run-actions.ts'
import { useMay } from '../../api/session.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import type { RunRow } from './run-row.ts'

/** The one thing that is mostly wanted of a run: to end it while it goes on, to do it again when it has ended. */
export function RowActions({ run }: { readonly run: RunRow }): ReactNode {
  const say = useSay()
  const retry = useRetry()
  const cancel = useCancel()
  const pending = isPending(run)
  const may = useMay(pending ? 'runs:write' : retryPermission(run))
  if (!may) return null
  const name = pending ? say('runs.cancel') : say(run.status === 'success' ? 'runs.again' : 'runs.retry')
  const Icon = pending ? IconPlayerStop : IconRefresh
  return (
    <div className="run-actions">
      <ActionIcon
        {...{
          'aria-label': name,
          title: name,
          disabled: retry.isPending || cancel.isPending || run.status === 'stopping',
        }}
        onClick={() => (pending ? cancel.mutate(run) : retry.mutate(run))}
      >
        <Icon size={16} aria-hidden />
      </ActionIcon>
    </div>
  )
}
