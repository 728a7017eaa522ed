import { Button } from '@mantine/core'
import { IconPlayerPlay } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { RunView } from '../../../../src/features/runs/schema.ts'
import type { ScheduleView } from '../../../../src/features/schedules/schema.ts'
import { api } from '../../../api/client.ts'
import { isPending } from '../../../api/run-actions.ts'
import { useRunNow } from '../../../api/run-now.ts'
import { useLog, wordsOf } from '../../../api/stream.ts'
import { OutcomeMark } from '../../../parts/outcome/OutcomeMark.tsx'
import { Panel } from '../../../parts/Panel.tsx'
import { Permitted } from '../../../parts/Permitted.tsx'
import { Value } from '../../../parts/Value.tsx'
import { useSay } from '../../../texts/TextProvider.tsx'

interface OriginProps {
  readonly schedule: ScheduleView
  readonly runId: string
}

/** The answer a schedule was made from, beside its last one. */
export function Origin({ schedule, runId }: OriginProps): ReactNode {
  const say = useSay()
  const runNow = useRunNow()
  const then = useQuery({
    queryKey: ['runs', 'get', runId],
    queryFn: ({ signal }) => api.runs.get(runId, { signal }),
    retry: false,
  })
  const last = useQuery({
    queryKey: ['schedules', 'runs', schedule.id, 'last'],
    queryFn: ({ signal }) => api.schedules.runs(schedule.id, { limit: 1 }, { signal }),
  })
  return (
    <Panel
      title={say('origin.title')}
      aside={
        <Permitted permission="schedules:run">
          <Button
            {...{ variant: 'default', size: 'compact-sm', leftSection: <IconPlayerPlay size={14} aria-hidden /> }}
            onClick={() => runNow(schedule)}
          >
            {say('origin.try')}
          </Button>
        </Permitted>
      }
    >
      <div className="origin">
        <Answered
          title={say('origin.then')}
          run={then.data}
          none={say(then.isError ? 'origin.gone' : 'origin.noAnswer')}
        />
        <Answered title={say('origin.now')} run={last.data?.items[0]} none={say('origin.none')} />
      </div>
    </Panel>
  )
}

interface AnsweredProps {
  readonly title: string
  readonly run: RunView | undefined
  /** What is said where there is no run. */
  readonly none: string
}

function Answered({ title, run, none }: AnsweredProps): ReactNode {
  const say = useSay()
  const isOpen = run !== undefined && isPending(run)
  const words = wordsOf(useLog(run?.id ?? '', isOpen) ?? [])
  const value = run === undefined ? null : isOpen ? words : (run.output ?? run.error_message)
  return (
    <section className="origin-side" aria-label={title}>
      <h3>
        {run === undefined ? (
          title
        ) : (
          <Link to="/automation/runs/$id" params={{ id: run.id }} className="door door-seen">
            {title}
          </Link>
        )}
        {run !== undefined && <OutcomeMark status={run.status} />}
      </h3>
      {value == null || value === '' ? (
        <p className="panel-none">
          {run === undefined ? none : say(isPending(run) ? 'origin.coming' : 'origin.noAnswer')}
        </p>
      ) : (
        <Value value={value} label={title} />
      )}
    </section>
  )
}
