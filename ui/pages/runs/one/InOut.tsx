import type { ReactNode } from 'react'
import type { RunDetail } from '../../../../src/features/runs/schema.ts'
import { isPending } from '../../../api/run-actions.ts'
import { useLog, wordsOf } from '../../../api/stream.ts'
import { Content } from '../../../parts/content/Content.tsx'
import { Panel } from '../../../parts/Panel.tsx'
import { useSay } from '../../../texts/TextProvider.tsx'
import { wordsOf as promptOf } from '../run-row.ts'

/** What went in and what came out, side by side. */
export function InOut({ run }: { readonly run: RunDetail }): ReactNode {
  const say = useSay()
  return (
    <div className="in-out">
      <Sheet title={say('run.input')} value={inputOf(run.payload)} none={say('run.noInput')} />
      <Output run={run} />
    </div>
  )
}

function Output({ run }: { readonly run: RunDetail }): ReactNode {
  const say = useSay()
  const isOver = !isPending(run)
  const words = wordsOf(useLog(run.id) ?? [])
  if (!isOver && words !== '') return <Content title={say('run.speaking')} value={words} />
  const output = run.output ?? run.result_summary
  const sheet = <Sheet title={say('run.output')} value={output} none={say(isOver ? 'run.noOutput' : 'run.notYet')} />
  if (run.output == null || run.result_summary == null) return sheet
  return (
    <div className="run-main">
      {sheet}
      <Sheet title={say('run.summary')} value={run.result_summary} none="" />
    </div>
  )
}

/** What is nothing but words is shown as words. */
function inputOf(payload: unknown): unknown {
  const words = promptOf(payload)
  if (words === null || typeof payload !== 'object' || payload === null) return payload
  const {
    messageIds: _ids,
    text: _text,
    prompt: _prompt,
    attachments,
    fields,
    ...rest
  } = payload as Record<string, unknown>
  const isPlain = [attachments, fields].every((more) => more === undefined || Object.keys(more as object).length === 0)
  return isPlain && Object.keys(rest).length === 0 ? words : payload
}

interface SheetProps {
  readonly title: string
  readonly value: unknown
  readonly none: string
}

function Sheet({ title, value, none }: SheetProps): ReactNode {
  if (value == null || value === '')
    return (
      <Panel title={title}>
        <p className="panel-none">{none}</p>
      </Panel>
    )
  return <Content title={title} value={value} />
}
