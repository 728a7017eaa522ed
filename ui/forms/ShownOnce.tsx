import { Button, Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { Copyable } from '../parts/Copyable.tsx'
import { useSay } from '../texts/TextProvider.tsx'
import './forms.css'

interface ShownOnceProps {
  readonly title: string
  readonly text: string
  readonly secret: string
  readonly close: () => void
}

/** A text that cannot be shown again once this is closed; it is stored neither in the URL nor in the query cache. */
export function ShownOnce({ title, text, secret, close }: ShownOnceProps): ReactNode {
  const say = useSay()
  return (
    <Modal
      {...{ opened: true, onClose: close, title, closeOnClickOutside: false }}
      closeButtonProps={{ 'aria-label': say('action.close') }}
    >
      <p className="modal-text">{text}</p>
      <div className="shown-once">
        <code>{secret}</code>
        <Copyable text={secret} name={title} />
      </div>
      <div className="modal-foot">
        <Button onClick={close}>{say('form.kept')}</Button>
      </div>
    </Modal>
  )
}
