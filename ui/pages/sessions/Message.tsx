import { Button } from '@mantine/core'
import { IconCalendarPlus, IconRefresh } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { MessageView } from '../../../src/features/sessions/schema.ts'
import { isPending, useRetry } from '../../api/run-actions.ts'
import { useOpenEditor } from '../../editor/hooks/use-editor.ts'
import { Permitted } from '../../parts/Permitted.tsx'
import { ShortId } from '../../parts/ShortId.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'
import { Answer } from './Answer.tsx'
import { useSender } from './use-sender.ts'

interface MessageProps {
  readonly message: MessageView
  /** Its place among those that wait; 0 when it does not. */
  readonly place: number
}

/** Something that was said, and what came of it. */
export function Message({ message, place }: MessageProps): ReactNode {
  return (
    <article className="exchange">
      {!isAdded(message) && <Said message={message} />}
      {isAdded(message) && <Added message={message} />}
      <Answer message={message} place={place} />
      {!isPending(message) && <Actions message={message} />}
    </article>
  )
}

/** News of a heartbeat answers nothing that was said here. */
const isAdded = ({ trigger, text }: MessageView): boolean => trigger === 'heartbeat' && text === null

function Added({ message: { created_at: at } }: Pick<MessageProps, 'message'>): ReactNode {
  const say = useSay()
  return (
    <div className="said-facts">
      <span>{say('chat.wokenBy', { trigger: say('trigger.heartbeat') })}</span>
      <Time at={at} />
    </div>
  )
}

function Said({ message }: Pick<MessageProps, 'message'>): ReactNode {
  const say = useSay()
  const own = useSender()
  const { text, sender, trigger, message_ids: ids, attachments } = message
  return (
    <div className="said" data-dropped={message.status === 'dropped' || message.status === 'rejected'}>
      <div className="bubble">{text ?? <span className="quiet">{say('chat.unspoken')}</span>}</div>
      <div className="said-facts">
        {sender !== null && (sender === own ? <span>{say('chat.you')}</span> : <Sender name={sender} />)}
        {trigger !== 'message' && <span>{say('chat.wokenBy', { trigger: say(`trigger.${trigger}`) })}</span>}
        {ids.length > 1 && <span className="chip">{say('chat.merged', { count: ids.length })}</span>}
        {attachments.length > 0 && (
          <span className="chip">{say('chat.attachments', { count: attachments.length })}</span>
        )}
        <Time at={message.created_at} />
      </div>
    </div>
  )
}

/** The name of a person, or the end of an id. */
function Sender({ name }: { readonly name: string }): ReactNode {
  return /^[a-z]{3}_\w+$/.test(name) ? <ShortId id={name} /> : <span>{name}</span>
}

function Actions({ message }: Pick<MessageProps, 'message'>): ReactNode {
  const say = useSay()
  const openEditor = useOpenEditor()
  const retry = useRetry()
  const { run_id: id, status } = message
  const isWell = status === 'success'
  return (
    <div className="exchange-actions">
      {!isWell && (
        <Permitted permission="runs:write" otherwise="hide">
          <Button
            {...{ variant: 'subtle', color: 'gray', loading: retry.isPending }}
            leftSection={<IconRefresh size={14} aria-hidden />}
            onClick={() => retry.mutate({ id, status })}
          >
            {say('chat.retry')}
          </Button>
        </Permitted>
      )}
      <Permitted permission="schedules:write">
        <Button
          {...{ variant: 'subtle', color: 'gray', leftSection: <IconCalendarPlus size={14} aria-hidden /> }}
          onClick={() => openEditor({ edit: 'new', draft: id })}
        >
          {say('chat.toSchedule')}
        </Button>
      </Permitted>
      <Link to="/automation/runs/$id" params={{ id }} className="door door-seen exchange-run">
        {say('chat.openRun')}
      </Link>
    </div>
  )
}
