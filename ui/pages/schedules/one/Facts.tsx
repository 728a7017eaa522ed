import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ScheduleView } from '../../../../src/features/schedules/schema.ts'
import { outcomesOf } from '../../../api/queries.ts'
import { Door } from '../../../parts/Door.tsx'
import { useDoors } from '../../../parts/doors.ts'
import { OutcomeMark } from '../../../parts/outcome/OutcomeMark.tsx'
import { Sparkline } from '../../../parts/figures/Sparkline.tsx'
import { useSay, useTexts } from '../../../texts/TextProvider.tsx'
import { Time } from '../../../time/Time.tsx'
import { AgentCell, NextCell } from '../cells.tsx'

/** How it stands, in five facts; each leads to what is behind it. */
export function Facts({ schedule }: { readonly schedule: ScheduleView }): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const { last_run_at: last, last_status: status, session, last_error: error } = schedule
  const sessionDoor = session === 'isolated' || session === 'main' ? undefined : doors.session(session)
  return (
    <>
      <dl className="one-facts">
        <Fact name={say('one.next')}>
          <NextCell schedule={schedule} />
        </Fact>
        <Fact name={say('one.last')}>
          {last === null && status === null ? (
            <span className="quiet">{say('never')}</span>
          ) : (
            <>
              {last !== null && <Time at={last} zone={schedule.timezone} />}
              {status !== null && <OutcomeMark status={status} />}
            </>
          )}
        </Fact>
        <Fact name={say('one.outcomes')}>
          <Outcomes id={schedule.id} />
        </Fact>
        <Fact name={say('one.failures')}>
          <Failures schedule={schedule} />
        </Fact>
        {schedule.probe !== null && (
          <Fact name={say('probe.saved')}>
            <Saved schedule={schedule} />
          </Fact>
        )}
        <Fact name={say('one.agent')}>
          <AgentCell schedule={schedule} />
          <span className="row-sub">
            <Door to={sessionDoor}>{sessionName(session, say('edit.session.isolated'), say('edit.session.main'))}</Door>
          </span>
        </Fact>
      </dl>
      {schedule.note_codes?.map(({ code, params }) => (
        <p key={code} className="one-error" role="status">
          {say(`note.${code}`, { ends_at: params['ends_at'] ?? '', seconds: params['seconds'] ?? '' })}
        </p>
      ))}
      {schedule.failure_streak > 0 && error !== null && (
        <p className="one-error" role="status">
          <strong>{say('one.lastError')}</strong> {error}
        </p>
      )}
    </>
  )
}

const sessionName = (session: string, isolated: string, main: string): string =>
  session === 'isolated' ? isolated : session === 'main' ? main : session

/** Also of runs that were asked for by hand: they say as much about how it goes. */
function Outcomes({ id }: { readonly id: string }): ReactNode {
  const { data } = useQuery(outcomesOf(id))
  return data === undefined ? <Skeleton height={18} width={120} /> : <Sparkline runs={data} />
}

interface FactProps {
  readonly name: string
  readonly children: ReactNode
}

function Fact({ name, children }: FactProps): ReactNode {
  return (
    <div className="one-fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** How often its probe said no, and what that was worth. */
function Saved({ schedule }: { readonly schedule: ScheduleView }): ReactNode {
  const { say, locale } = useTexts()
  const counts = schedule.probe_counts
  if (counts === undefined) return <span className="quiet">{say('probe.savedNever')}</span>
  const { asked, saved, saved_tokens: tokens, last_sentence: last } = counts
  const written = (count: number): string => count.toLocaleString(locale)
  return (
    <span title={last}>
      {say('probe.savedOf', { saved: written(saved), asked: written(asked) })}
      {tokens !== null && tokens > 0 && (
        <span className="row-sub quiet">{say('probe.savedTokens', { tokens: written(tokens) })}</span>
      )}
    </span>
  )
}

function Failures({ schedule }: { readonly schedule: ScheduleView }): ReactNode {
  const say = useSay()
  const { id, failure_streak: streak, failure_count: count } = schedule
  if (count === 0) return <span className="quiet">{say('none')}</span>
  return (
    <Link to="/automation/schedules/$id" params={{ id }} search={{ status: 'failed' }} className="door">
      {streak > 0 && <span className="bad">{say('schedules.streak', { count: streak })} </span>}
      <span className="quiet">{say('schedules.failures', { count })}</span>
    </Link>
  )
}
