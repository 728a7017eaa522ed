import { Button, TextInput } from '@mantine/core'
import { IconHelpCircle } from '@tabler/icons-react'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import type { RunView } from '../../../../src/features/runs/schema.ts'
import type { OccurrenceExplanation } from '../../../../src/features/explain/schema.ts'
import type { ScheduleView } from '../../../../src/features/schedules/schema.ts'
import { api } from '../../../api/client.ts'
import { messageOf } from '../../../api/refusal.ts'
import { Doors } from '../../../parts/explain/Doors.tsx'
import { Next } from '../../../parts/explain/Next.tsx'
import { Steps } from '../../../parts/explain/Steps.tsx'
import { Told } from '../../../parts/explain/Told.tsx'
import { Lines } from '../../../parts/Lines.tsx'
import { OutcomeMark } from '../../../parts/outcome/OutcomeMark.tsx'
import { useSay } from '../../../texts/TextProvider.tsx'
import { Time } from '../../../time/Time.tsx'
import { momentOf, wallTime } from '../../../time/wall.ts'

const explanationOf = (id: string, at: string) =>
  queryOptions({
    queryKey: ['schedules', 'runs', id, 'explain', at],
    queryFn: ({ signal }) => api.schedules.explain(id, { at }, { signal }),
  })

interface ExplainProps {
  readonly schedule: ScheduleView
  /** The time to explain; it is part of the URL. */
  readonly at: string | undefined
}

/** Explains what happened, or will happen, at any time. */
export function Explain({ schedule, at }: ExplainProps): ReactNode {
  const say = useSay()
  const navigate = useNavigate({ from: '/automation/schedules/$id' })
  const { timezone: zone, next_run_at: next } = schedule
  const [wall, setWall] = useState(() => wallTime(Date.parse(at ?? next ?? new Date().toISOString()), zone))
  const ask = (moment: number | null): void => {
    if (moment === null) return
    setWall(wallTime(moment, zone))
    void navigate({ search: { tab: 'policy', at: new Date(moment).toISOString() }, replace: true, resetScroll: false })
  }
  return (
    <form
      className="explain"
      onSubmit={(event) => {
        event.preventDefault()
        ask(momentOf(wall, zone))
      }}
    >
      <h3>
        <IconHelpCircle size={16} aria-hidden /> {say('one.explain')}
      </h3>
      <div className="explain-ask">
        <TextInput
          {...{ value: wall, type: 'datetime-local', step: 1 }}
          label={say('one.explain.at', { zone: zone.replaceAll('_', ' ') })}
          onChange={(event) => setWall(event.currentTarget.value)}
        />
        <Button type="submit">{say('one.explain.ask')}</Button>
        {next !== null && (
          <Button variant="default" onClick={() => ask(Date.parse(next))}>
            {say('one.explain.next')}
          </Button>
        )}
      </div>
      {at !== undefined && <Answer schedule={schedule} at={at} />}
    </form>
  )
}

function Answer({ schedule, at }: { readonly schedule: ScheduleView; readonly at: string }): ReactNode {
  const say = useSay()
  const { data, error } = useQuery(explanationOf(schedule.id, at))
  if (data === undefined) return error === null ? <Lines count={1} /> : <p className="bad">{messageOf(error, say)}</p>
  return <Explanation explanation={data} zone={schedule.timezone} />
}

interface ExplanationProps {
  readonly explanation: OccurrenceExplanation
  readonly zone: string
}

function Explanation({ explanation, zone }: ExplanationProps): ReactNode {
  const say = useSay()
  const { status, rule, reason, evidence, policy, steps, links, next } = explanation
  const why = { reason, rule, evidence } as RunView['decision']
  // Of many that were skipped together the evidence is that of the first: the server says what holds for all.
  const isOneOfMany = evidence['count'] !== undefined && evidence['count'] !== 1
  return (
    <div className="explain-answer" role="status">
      <span>
        <Time at={explanation.at} zone={zone} show="wall" /> {status !== null && <OutcomeMark status={status} />}
      </span>
      <Told why={why} policy={policy} {...(isOneOfMany ? { sentence: explanation.sentence } : {})} />
      <h4>{say('explain.steps')}</h4>
      <Steps steps={steps} />
      <h4>{say('explain.links')}</h4>
      <Doors links={links} />
      <h4>{say('explain.next')}</h4>
      <Next next={next} />
    </div>
  )
}
