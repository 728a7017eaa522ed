import { ActionIcon, Textarea } from '@mantine/core'
import { IconSend2 } from '@tabler/icons-react'
import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { Permitted } from '../../parts/Permitted.tsx'
import { useShortcuts } from '../../shell/shortcuts.ts'
import { useSay } from '../../texts/TextProvider.tsx'

const MOST_ROWS = 8

/** Where one writes. What did not arrive stays there. */
export function Composer({ send }: { readonly send: (text: string) => Promise<boolean> }): ReactNode {
  const say = useSay()
  const field = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState('')
  useShortcuts({ '/': () => field.current?.focus() })
  // Without it the first letters are taken for shortcuts. On a touch screen the keyboard would cover the conversation.
  useEffect(() => {
    if (matchMedia('(hover: hover)').matches) field.current?.focus()
  }, [])
  const submit = async (): Promise<void> => {
    const words = text.trim()
    if (words === '') return
    setText('')
    if (!(await send(words))) setText((typed) => (typed === '' ? words : `${words}\n${typed}`))
  }
  const press = (event: KeyboardEvent): void => {
    // While characters are being composed, Enter chooses one of them.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    void submit()
  }
  return (
    <div className="composer">
      <Permitted permission="sessions:write">
        <Textarea
          {...{ ref: field, value: text, autosize: true, minRows: 1, maxRows: MOST_ROWS, className: 'composer-field' }}
          placeholder={say('chat.write')}
          aria-label={say('chat.write')}
          title={say('chat.writeHint')}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={press}
        />
      </Permitted>
      <Permitted permission="sessions:write">
        <ActionIcon
          {...{ variant: 'filled', size: 36, 'aria-label': say('chat.send'), disabled: text.trim() === '' }}
          onClick={() => void submit()}
        >
          <IconSend2 size={18} aria-hidden />
        </ActionIcon>
      </Permitted>
    </div>
  )
}
