import { Button } from '@mantine/core'
import { useEffect, useLayoutEffect, useRef, type ReactNode } from 'react'
import type { MessageView } from '../../../src/features/sessions/schema.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { Message } from './Message.tsx'

interface MessagesProps {
  /** The oldest first. */
  readonly messages: readonly MessageView[]
  readonly sending: string | null
  /** Reads what was said before; left out when there is nothing. */
  readonly older?: () => void
}

/** What was said, the newest at the bottom, where one stays unless one has scrolled away. */
export function Messages({ messages, sending, older }: MessagesProps): ReactNode {
  const say = useSay()
  const list = useStayBelow()
  const waiting = messages.filter(({ status }) => status === 'waiting' || status === 'queued').map((one) => one.run_id)
  return (
    <div ref={list} className="talk-log" role="log" aria-label={say('chat.log')} tabIndex={0}>
      <div className="talk-column">
        {older !== undefined && (
          <Button variant="subtle" className="talk-older" onClick={older}>
            {say('chat.older')}
          </Button>
        )}
        {messages.length === 0 && sending === null && <p className="talk-first quiet">{say('chat.first')}</p>}
        {messages.map((message) => (
          <Message key={message.run_id} message={message} place={waiting.indexOf(message.run_id) + 1} />
        ))}
        {sending !== null && (
          <div className="said said-sending">
            <div className="bubble">{sending}</div>
            <div className="said-facts">{say('chat.sending')}</div>
          </div>
        )}
      </div>
    </div>
  )
}

const NEAR = 80

/** Keeps the end in sight while it grows, as long as it is in sight. What comes above moves nothing. */
function useStayBelow(): React.RefObject<HTMLDivElement | null> {
  const list = useRef<HTMLDivElement>(null)
  const isBelow = useRef(true)
  useEffect(() => {
    const { current } = list
    if (current === null) return
    const look = (): void => {
      isBelow.current = current.scrollHeight - current.scrollTop - current.clientHeight < NEAR
    }
    current.addEventListener('scroll', look, { passive: true })
    const column = current.firstElementChild
    // Words come in without this being drawn anew.
    const observer = new ResizeObserver(() => {
      if (isBelow.current) current.scrollTop = current.scrollHeight
    })
    if (column !== null) observer.observe(column)
    return () => {
      current.removeEventListener('scroll', look)
      observer.disconnect()
    }
  }, [])
  useLayoutEffect(() => {
    if (list.current !== null && isBelow.current) list.current.scrollTop = list.current.scrollHeight
  })
  return list
}
