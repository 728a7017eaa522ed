import { Loader } from '@mantine/core'
import type { ReactNode } from 'react'
import type { MessageView } from '../../../src/features/sessions/schema.ts'
import { isPending } from '../../api/run-actions.ts'
import { useLog, wordsOf } from '../../api/stream.ts'
import { JsonTree } from '../../parts/content/JsonTree.tsx'
import { FormattedText, looksLikeMarkdown } from '../../parts/content/FormattedText.tsx'
import { OutcomeMark } from '../../parts/outcome/OutcomeMark.tsx'
import type { Say } from '../../texts/fill.ts'
import { useSay } from '../../texts/TextProvider.tsx'

interface AnswerProps {
  readonly message: MessageView
  readonly place: number
}

/** What was answered, is being answered, or why there is no answer. */
export function Answer({ message, place }: AnswerProps): ReactNode {
  const { status, reply } = message
  const isMissing = isPending(message) ? message.status !== 'queued' && message.status !== 'waiting' : isCut(message)
  const printed = useLog(message.run_id, isMissing)
  const words = printed === undefined ? '' : wordsOf(printed)
  if (isPending(message)) return <Coming {...{ message, place, words }} />
  return (
    <div className="answer" data-status={status}>
      {status !== 'success' && <Ended message={message} />}
      {/* What was said before it was stopped stays said. */}
      <Words value={reply ?? (status === 'success' ? null : words)} isWell={status === 'success'} />
    </div>
  )
}

function Words({ value, isWell }: { readonly value: unknown; readonly isWell: boolean }): ReactNode {
  const say = useSay()
  if (value == null || value === '') return isWell ? <p className="answer-none">{say('chat.noAnswer')}</p> : null
  if (typeof value === 'string') return <Said text={value} />
  return (
    <div className="answer-json">
      <JsonTree value={value} label={say('run.output')} query="" />
    </div>
  )
}

/** Words as they were meant: Markdown where they are written in it. */
function Said({ text }: { readonly text: string }): ReactNode {
  return (
    <div className="answer-words" data-markdown={looksLikeMarkdown(text)}>
      {looksLikeMarkdown(text) ? <FormattedText text={text} /> : text}
    </div>
  )
}

/** Runs that were stopped or failed on their way, whose words are in the log alone. */
const isCut = ({ status, reply }: MessageView): boolean =>
  reply == null && (status === 'cancelled' || status === 'failed' || status === 'timeout')

/** It is being answered, or waits; the words come as they are said. */
function Coming({ message, place, words }: AnswerProps & { readonly words: string }): ReactNode {
  const say = useSay()
  const waits = message.status === 'waiting' || message.status === 'queued'
  return (
    <div className="answer" data-status={message.status}>
      {words !== '' && <Said text={words} />}
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
