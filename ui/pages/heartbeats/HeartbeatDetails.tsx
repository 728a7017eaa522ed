import { Alert, Button } from '@mantine/core'
import { IconHeartbeat, IconPencil } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, type ReactNode } from 'react'
import type { AgentView } from '../../../src/features/agents/schema.ts'
import type { HeartbeatView } from '../../../src/features/heartbeats/schema.ts'
import { heartbeatOf } from '../../api/admin-queries.ts'
import { api } from '../../api/client.ts'
import { useAct } from '../../api/use-act.ts'
import { ErrorState } from '../../parts/ErrorState.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Permitted } from '../../parts/Permitted.tsx'
import { Value } from '../../parts/Value.tsx'
import { useSay, useTexts } from '../../texts/TextProvider.tsx'
import { spanText } from '../../time/span.ts'
import { Time } from '../../time/Time.tsx'
import { HeartbeatLog } from './HeartbeatLog.tsx'
import type { HeartbeatProps } from './heartbeat-props.ts'

// Who only looks loads no form.
const HeartbeatDrawer = lazy(async () => ({ default: (await import('./HeartbeatDrawer.tsx')).HeartbeatDrawer }))

/** The heartbeat of one agent: its settings, its checklist, its log, and a button that tests it now. */
export function HeartbeatDetails(props: HeartbeatProps): ReactNode {
  const { agent, search, change } = props
  const say = useSay()
  const { data, error, refetch } = useQuery(heartbeatOf(agent.id))
  if (data === undefined)
    return (
      <Panel>{error === null ? <Lines count={5} /> : <ErrorState error={error} retry={() => void refetch()} />}</Panel>
    )
  return (
    <div className="beats-details">
      <Panel title={agent.name} aside={<Buttons agent={agent} edit={() => change({ open: 'settings' })} />}>
        <Facts heartbeat={data} />
        {data.no_route !== null && (
          <Alert color="yellow" title={say('beats.noRoute')}>
            {say('reason.no_route', { target: data.target })}
          </Alert>
        )}
        {data.checklist === null ? (
          <p className="beats-none">{say('beats.noChecklist')}</p>
        ) : 'text' in data.checklist ? (
          <div className="beats-checklist">
            <Value value={data.checklist.text} label={say('beats.checklist')} />
          </div>
        ) : (
          <p className="beats-none">
            {say('beats.file')} <code>{data.checklist.file}</code>
          </p>
        )}
      </Panel>
      <HeartbeatLog {...props} />
      {search.open === 'settings' && (
        <Suspense fallback={null}>
          <HeartbeatDrawer {...{ agent, heartbeat: data, close: () => change({ open: null }) }} />
        </Suspense>
      )}
    </div>
  )
}

function Buttons({ agent: { id }, edit }: { readonly agent: AgentView; readonly edit: () => void }): ReactNode {
  const say = useSay()
  const test = useAct({
    act: () => api.heartbeat.test(id),
    touches: [['heartbeat']],
    told: ({ ran, sentence }) => ({ tone: ran ? 'done' : 'failed', message: ran ? say('beats.tested') : sentence }),
  })
  return (
    <div className="beats-buttons">
      <Permitted permission="agents:write">
        <Button
          {...{ variant: 'default', loading: test.isPending, leftSection: <IconHeartbeat size={14} aria-hidden /> }}
          onClick={() => test.run(undefined)}
        >
          {say('beats.test')}
        </Button>
      </Permitted>
      <Permitted permission="agents:write">
        <Button leftSection={<IconPencil size={14} aria-hidden />} onClick={edit}>
          {say('form.edit')}
        </Button>
      </Permitted>
    </div>
  )
}

function Facts({ heartbeat }: { readonly heartbeat: HeartbeatView }): ReactNode {
  const { say, locale } = useTexts()
  const { next_at: next, interval_seconds: usual, current_interval_seconds: now, active_hours: hours } = heartbeat
  const seconds = (value: number): string => spanText(value * 1_000, say)
  return (
    <dl className="beats-facts">
      <div>
        <dt>{say('beats.next')}</dt>
        <dd>{next === null ? say('beats.off') : <Time at={next} show="both" />}</dd>
      </div>
      <div>
        <dt>{say('beats.every')}</dt>
        <dd>{now === usual ? seconds(usual) : say('beats.grown', { now: seconds(now), usual: seconds(usual) })}</dd>
      </div>
      <div>
        <dt>{say('beats.hours')}</dt>
        <dd>{hours === null ? say('beats.always') : `${hours.start}–${hours.end} ${hours.timezone}`}</dd>
      </div>
      <div>
        <dt>{say('beats.target')}</dt>
        <dd>
          <code>{heartbeat.target}</code>
          {heartbeat.route !== null && heartbeat.route !== heartbeat.target && (
            <span className="quiet">{say('beats.route', { route: heartbeat.route })}</span>
          )}
        </dd>
      </div>
      {heartbeat.probe !== null && (
        <div>
          <dt>{say('probe.saved')}</dt>
          <dd title={heartbeat.probe_counts?.last_sentence ?? ''}>
            {heartbeat.probe_counts === undefined
              ? say('probe.savedNever')
              : say('probe.savedOf', {
                  saved: heartbeat.probe_counts.saved.toLocaleString(locale),
                  asked: heartbeat.probe_counts.asked.toLocaleString(locale),
                })}
          </dd>
        </div>
      )}
      <div>
        <dt>{say('beats.streak')}</dt>
        <dd>{say('beats.streakOf', { count: heartbeat.ok_streak })}</dd>
      </div>
    </dl>
  )
}
