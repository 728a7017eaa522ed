import { Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'
import { useLive } from '../api/live-status.ts'
import { useSay } from '../texts/TextProvider.tsx'

/** Whether what is shown is as it is right now. */
export function LiveMark(): ReactNode {
  const say = useSay()
  const { status } = useLive()
  return (
    <Tooltip label={say(`live.${status}Hint`)}>
      <span className="live" data-status={status} role="status" tabIndex={0}>
        <span className="live-dot" aria-hidden />
        <span className="live-word">{say(`live.${status}`)}</span>
      </span>
    </Tooltip>
  )
}
