import { Button, Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { useSay } from '../texts/TextProvider.tsx'
import './forms.css'

interface ConfirmProps {
  /** Names the object. */
  readonly title: string
  /** Says what will happen. */
  readonly text: string
  readonly word: string
  readonly confirm: () => void
  readonly cancel: () => void
}

/** Asks before something that cannot be taken back. */
export function Confirm({ title, text, word, confirm, cancel }: ConfirmProps): ReactNode {
  const say = useSay()
  return (
    <Modal {...{ opened: true, onClose: cancel, title }} closeButtonProps={{ 'aria-label': say('action.close') }}>
      <p className="modal-text">{text}</p>
      <div className="modal-foot">
        <Button variant="default" onClick={cancel} data-autofocus>
          {say('action.cancel')}
        </Button>
        <Button
          color="red"
          onClick={() => {
            confirm()
            cancel()
          }}
        >
          {word}
        </Button>
      </div>
    </Modal>
  )
}
