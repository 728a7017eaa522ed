import { ActionIcon, CopyButton, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useSay } from '../texts/TextProvider.tsx'

/** A button that copies a text: an id, a piece of JSON. */
export function Copyable({ text, name }: { readonly text: string; readonly name: string }): ReactNode {
  const say = useSay()
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? say('copied') : say('action.copy')}>
          <ActionIcon size="sm" onClick={copy} aria-label={`${say('action.copy')}: ${name}`}>
            {copied ? <IconCheck size={13} aria-hidden /> : <IconCopy size={13} aria-hidden />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  )
}
