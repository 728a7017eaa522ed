import { Loader } from '@mantine/core'
import type { ReactNode } from 'react'
import type { MessageView } from '../../../src/features/sessions/schema.ts'
import { isPending } from '../../api/run-actions.ts'
import { useStream } from '../../api/stream.ts'
import { OutcomeMark } from '../../parts/outcome/OutcomeMark.tsx'
import type { Say } from '../../texts/fill.ts'
import { useSay } from '../../texts/TextProvider.tsx'

interface AnswerProps {
  readonly message: MessageView
  readonly place: number
}

/** What was answered, is being answered, or why there is no answer. */
export function Answer({ message, place }: AnswerProps): ReactNode {
  const said = useStream(message.run_id)
  if (isPending(message)) return <Coming {...{ message, place }} />
  const { status, reply } = message
  return (
    <div className="answer" data-status={status}>
      {status !== 'success' && <Ended message={message} />}
      {/* What was said before it was stopped stays said. */}
      <Words value={reply ?? (status === 'success' ? null : (said?.text ?? null))} isWell={status === 'success'} />
    </div>
  )
}

function Words({ value, isWell }: { readonly value: unknown; readonly isWell: boolean }): ReactNode {
  const say = useSay()
  if (value == null || value === '') return isWell ? <p className="answer-none">{say('chat.noAnswer')}</p> : null
  if (typeof value === 'string') return <div className="answer-words">{value}</div>
  return <pre className="answer-json">{JSON.stringify(value, null, 2)}</pre>
}

/** It is being answered, or waits; the words come as they are said. */
function Coming({ message, place }: AnswerProps): ReactNode {
  const say = useSay()
  const said = useStream(message.run_id)
  const waits = message.status === 'waiting' || message.status === 'queued'
  return (
    <div className="answer" data-status={message.status}>
      {said !== undefined && !said.isWhole && <p className="answer-none">{say('chat.beginningMissing')}</p>}
      {said !== undefined && <div className="answer-words">{said.text}</div>}
      <div className="answer-state">
        {waits ? (
          <>
            <OutcomeMark status={message.status} bare />
            {waitText({ message, place }, say)}
          </>
        ) : (
          <>
            <Loader size={14} type="dots" aria-hidden />
            {message.status === 'running' ? say('chat.thinking') : say(`status.${message.status}`)}
          </>
        )}
      </div>
    </div>
  )
}

function waitText({ message: { reason }, place }: AnswerProps, say: Say): string {
  if (reason === 'debouncing') return say('chat.debouncing')
  if (reason === 'retry_scheduled') return say('chat.retrying')
  return place <= 1 ? say('chat.next') : say('chat.position', { position: place })
}

/** Endings that have words without anything to fill in. */
const PLAIN = ['stopped', 'stopped_all', 'interrupted', 'cancelled', 'lane_cleared'] as const

function Ended({ message }: { readonly message: MessageView }): ReactNode {
  const say = useSay()
  const { status, reason, error_message: error, error_code: code } = message
  const plain = PLAIN.find((one) => one === reason)
  const words =
    status === 'dropped'
      ? say('chat.dropped')
      : status === 'rejected'
        ? say('chat.rejected')
        : reason === 'stale'
          ? say('chat.stale')
          : plain === undefined
            ? error
            : say(`reason.${plain}`)
  const tag = code ?? reason
  return (
    <div className="answer-ended">
      <OutcomeMark status={status} />
      {words !== null && <span className="answer-why">{words}</span>}
      {tag !== null && tag !== status && <span className="tag">{tag}</span>}
    </div>
  )
}
