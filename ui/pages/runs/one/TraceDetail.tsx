import { ActionIcon } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { Fragment, type ReactNode } from 'react'
import type { RunDetail } from '../../../../src/features/runs/schema.ts'
import { Copyable } from '../../../parts/Copyable.tsx'
import { Sentence } from '../../../parts/Sentence.tsx'
import { ShortId } from '../../../parts/ShortId.tsx'
import { useTexts } from '../../../texts/TextProvider.tsx'
import { spanText } from '../../../time/span.ts'
import { exactTime } from '../../../time/zone.ts'
import { errorOf, type TraceRow } from './trace.ts'

interface TraceDetailProps {
  readonly run: RunDetail
  readonly row: TraceRow
  readonly name: string
  readonly now: number
  readonly close: () => void
  readonly children: ReactNode
}

type Fact = readonly [name: string, value: ReactNode]

/** Everything about one row of the trace. */
export function TraceDetail({ run, row, name, now, close, children }: TraceDetailProps): ReactNode {
  const { say, locale } = useTexts()
  const facts: readonly Fact[] = [
    [say('trace.from'), exactTime(row.from, { locale })],
    [say('trace.to'), row.to === null ? say('trace.goesOn') : exactTime(row.to, { locale })],
    [say('trace.length'), spanText((row.to ?? now) - row.from, say)],
    ...useFacts(run, row),
  ]
  return (
    <section className="trace-detail" aria-label={name}>
      <header>
        <h3>{name}</h3>
        {children}
        <ActionIcon size="sm" aria-label={say('action.close')} onClick={close}>
          <IconX size={14} aria-hidden />
        </ActionIcon>
      </header>
      <dl className="facts">
        {facts.map(([title, value]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {row.what.kind === 'delivery' && (
        <p className="trace-sentence">
          <Sentence why={row.what.delivery.why} />
        </p>
      )}
    </section>
  )
}

function useFacts(run: RunDetail, row: TraceRow): readonly Fact[] {
  const { say } = useTexts()
  const { what } = row
  switch (what.kind) {
    case 'wait':
      return what.reason === null ? [] : [[say('trace.reason'), <code className="tag">{what.reason}</code>]]
    case 'attempt': {
      const { id, node_id: node, error_code: code, agent_error_code: own } = what.attempt
      const { text, sameAs } = errorOf(run.attempts, what.attempt)
      return [
        ...(what.firstOutput === null
          ? []
          : [[say('trace.firstOutput'), spanText(what.firstOutput - row.from, say)] as const]),
        ...(node === null ? [] : [[say('trace.node'), <ShortId id={node} />] as const]),
        [
          say('trace.id'),
          <Fragment key={id}>
            <ShortId id={id} /> <Copyable text={id} name={id} />
          </Fragment>,
        ],
        ...(code === null ? [] : [[say('trace.code'), codes([code, own])] as const]),
        ...(sameAs !== null ? [[say('run.error'), say('trace.sameError', { count: sameAs })] as const] : []),
        ...(text !== null && text !== code
          ? [[say('run.error'), <span className="trace-error">{text}</span>] as const]
          : []),
      ]
    }
    case 'callback':
      return []
    case 'delivery':
      return [
        [say('trace.status'), say(`run.delivery.${what.delivery.status}`)],
        [say('trace.tries'), String(what.delivery.tries.length)],
      ]
    case 'try': {
      const { status_code: code, error_code: error, message } = what.one
      return [
        ...(code === null ? [] : [[say('trace.answer'), <code className="tag">{code}</code>] as const]),
        ...(error === null ? [] : [[say('trace.code'), <code className="tag">{error}</code>] as const]),
        ...(message === null ? [] : [[say('run.error'), <span className="trace-error">{message}</span>] as const]),
      ]
    }
  }
}

const codes = (all: readonly (string | null)[]): ReactNode =>
  all.map(
    (code) =>
      code !== null && (
        <code key={code} className="tag">
          {code}
        </code>
      ),
  )
