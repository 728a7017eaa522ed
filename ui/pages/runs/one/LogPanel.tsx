import { Button, Chip } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import type { ShownEntry } from '../../../../src/domain/run/log-entry.ts'
import type { RunDetail } from '../../../../src/features/runs/schema.ts'
import { isPending } from '../../../api/run-actions.ts'
import { useLog } from '../../../api/stream.ts'
import { Copyable } from '../../../parts/Copyable.tsx'
import { Panel } from '../../../parts/Panel.tsx'
import { useTexts } from '../../../texts/TextProvider.tsx'
import { milliTime } from '../../../time/zone.ts'

const SHOWN = 500

/** What the run printed while it worked, attempt by attempt; live while it goes on. */
export function LogPanel({ run }: { readonly run: RunDetail }): ReactNode {
  const { say } = useTexts()
  const entries = useLog(run.id) ?? []
  const [onlyLines, setOnlyLines] = useState(false)
  const [isAll, setAll] = useState(false)
  const kept = onlyLines ? entries.filter(({ kind }) => kind === 'log') : entries
  const shown = isAll ? kept : kept.slice(-SHOWN)
  if (entries.length === 0) return null
  const hasBoth = entries.some(({ kind }) => kind === 'log') && entries.some(({ kind }) => kind !== 'log')
  return (
    <Panel
      title={say('log.title')}
      className="run-log"
      aside={
        <div className="run-log-tools">
          {isPending(run) && <span className="chip chip-active">{say('log.live')}</span>}
          {hasBoth && (
            <Chip size="xs" checked={onlyLines} onChange={setOnlyLines}>
              {say('log.onlyLines')}
            </Chip>
          )}
          <Copyable text={kept.map(lineOf).join('\n')} name={say('log.title')} />
        </div>
      }
    >
      {shown.length < kept.length && (
        <Button variant="subtle" size="xs" onClick={() => setAll(true)}>
          {say('log.earlier', { count: kept.length - shown.length })}
        </Button>
      )}
      <ol className="log-lines" aria-label={say('log.title')} tabIndex={0}>
        {shown.map((entry, index) => (
          <Line key={entry.id} entry={entry} isFirst={entry.attempt !== shown[index - 1]?.attempt} />
        ))}
      </ol>
    </Panel>
  )
}

function Line({ entry, isFirst }: { readonly entry: ShownEntry; readonly isFirst: boolean }): ReactNode {
  const { say, locale } = useTexts()
  const { attempt, at, kind, level, source, text, data } = entry
  return (
    <>
      {isFirst && <li className="log-attempt">{say('trace.attempt', { count: attempt })}</li>}
      <li className="log-line" data-kind={kind} data-level={level ?? undefined}>
        <time dateTime={at}>{milliTime(Date.parse(at), { locale })}</time>
        {level !== null && <span className="log-level">{level}</span>}
        <span className="log-text">
          {source !== null && <span className="log-source">{source}</span>}
          {text}
          {data !== null && <code className="log-data">{JSON.stringify(data)}</code>}
        </span>
      </li>
    </>
  )
}

const lineOf = ({ at, level, text, data }: ShownEntry): string =>
  [
    at,
    ...(level === null ? [] : [level]),
    ...(text === null ? [] : [text]),
    ...(data === null ? [] : [JSON.stringify(data)]),
  ].join(' ')
