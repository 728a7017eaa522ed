import { CloseButton, Popover } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ExplainAction, ExplainNext } from '../../src/features/explain/schema.ts'
import { api } from '../api/client.ts'
import { messageOf } from '../api/refusal.ts'
import { Next } from '../parts/explain/Next.tsx'
import { Lines } from '../parts/Lines.tsx'
import { useTexts } from '../texts/TextProvider.tsx'
import { Time } from '../time/Time.tsx'
import { withOwnTimes } from '../time/zone.ts'
import type { AskedPlace } from './RibbonCanvas.tsx'
import type { TimelineLine } from './use-timeline.ts'

interface WhyHereProps {
  readonly asked: AskedPlace
  readonly line: TimelineLine
  /** The length of a bucket: how far around the place is looked. */
  readonly step: number
  readonly close: () => void
}

const MOST_FINDINGS = 3

/** What is known about a row and a time. Where the row is held back, that is the answer. */
const answerTo = ({ row }: TimelineLine, at: number, step: number) =>
  queryOptions({
    queryKey: ['explain', 'here', row.kind, row.id, at, step],
    queryFn: async ({ signal }) => {
      const iso = new Date(at).toISOString()
      const within = Math.min(86_400, Math.max(60, Math.round(step / 2_000)))
      const found = await api.explain.ask(
        {
          ...{ at: iso, within_seconds: within },
          ...(row.kind === 'schedule' && row.id !== null ? { schedule_id: row.id } : {}),
          ...((row.kind === 'agent' || row.kind === 'direct') && row.id !== null ? { agent_id: row.id } : {}),
        },
        { signal },
      )
      return found
    },
  })

/** The answer to "why?" where it was asked, with buttons for what can be done. */
export function WhyHere({ asked, line, step, close }: WhyHereProps): ReactNode {
  const { say } = useTexts()
  const at = Math.round(asked.at / 1_000) * 1_000
  const { data, error } = useQuery(answerTo(line, at, step))
  const { held, kind, id, state } = line.row
  const isHeld = held !== null && at >= Date.now() && (held.until === null || at < Date.parse(held.until))
  const isPaused = kind === 'schedule' && state === 'paused' && at >= Date.now()
  return (
    <Popover
      {...{ opened: true, onDismiss: close, width: 340, position: 'bottom', withArrow: true, shadow: 'md' }}
      trapFocus
    >
      <Popover.Target>
        <span
          {...{ role: 'button', tabIndex: -1, className: 'ribbon-asked', style: { left: asked.x, top: asked.y } }}
          aria-label={say('ribbon.whyFor', { name: line.label })}
        />
      </Popover.Target>
      <Popover.Dropdown className="ribbon-asked-answer" aria-label={say('ribbon.whyFor', { name: line.label })}>
        <div
          className="why-here"
          onPointerDown={(event) => event.stopPropagation()}
          onPointerUp={(event) => event.stopPropagation()}
          onKeyDown={(event) => {
            if (event.key === 'Escape') close()
            event.stopPropagation()
          }}
        >
          <div className="why-here-head">
            <strong>{line.label}</strong>
            <CloseButton size="sm" aria-label={say('ribbon.close')} onClick={close} />
          </div>
          <Time at={at} />
          {isHeld && <Sentences sentences={[held.sentence]} />}
          {error !== null ? (
            <p className="bad">{messageOf(error, say)}</p>
          ) : data === undefined ? (
            <Lines count={2} />
          ) : (
            <>
              {!isHeld && <Sentences sentences={data.findings.map(({ sentence }) => sentence)} />}
              <Next next={nextOf(line, data.next, isHeld)} />
            </>
          )}
          <Link
            to="/automation/why"
            search={{
              q: new Date(at).toISOString(),
              ...(kind === 'schedule' && id !== null && !isPaused ? { schedule: id } : {}),
            }}
          >
            {say('ribbon.more')}
          </Link>
        </div>
      </Popover.Dropdown>
    </Popover>
  )
}

/** What was found, each once, with times on the reader's clock. */
function Sentences({ sentences }: { readonly sentences: readonly string[] }): ReactNode {
  const { locale } = useTexts()
  return [...new Set(sentences)]
    .slice(0, MOST_FINDINGS)
    .map((sentence) => <p key={sentence}>{withOwnTimes(sentence, locale)}</p>)
}

/** What can be done here: what the answer says, and what a schedule always can. */
function nextOf({ row: { kind, id, state } }: TimelineLine, next: ExplainNext | null, isHeld: boolean): ExplainNext {
  const { sentence, actions } = next ?? { sentence: '', actions: [] }
  const action = state === 'paused' ? ('enable' as const) : ('run_now' as const)
  const isMissing =
    kind === 'schedule' && id !== null && state !== null && !actions.some((one) => one.action === action)
  const path = `/api/v1/schedules/${encodeURIComponent(id ?? '')}`
  const always: readonly ExplainAction[] = [
    {
      ...{ action, method: 'POST', sentence: '', path: `${path}/${action === 'enable' ? 'enable' : 'run-now'}` },
      command: `escapement schedules ${action === 'enable' ? 'enable' : 'run'} ${id ?? ''}`,
    },
    {
      ...{ action: 'change_schedule', method: 'PATCH', sentence: '', path },
      command: `escapement schedules update ${id ?? ''}`,
    },
  ]
  return { sentence: isHeld ? '' : sentence, actions: isMissing ? [...actions, ...always] : actions }
}
