import type { ReactNode } from 'react'
import type { ExplainFinding, Explanation, PlannedMoment } from '../../../src/features/explain/schema.ts'
import type { RunView } from '../../../src/features/runs/schema.ts'
import { Door } from '../../parts/Door.tsx'
import { useDoors } from '../../parts/doors.ts'
import { Doors } from '../../parts/explain/Doors.tsx'
import { Next } from '../../parts/explain/Next.tsx'
import { Steps } from '../../parts/explain/Steps.tsx'
import { Told } from '../../parts/explain/Told.tsx'
import { OutcomeMark } from '../../parts/outcome/OutcomeMark.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'

/** What was found, the most telling first and in full, the others below it. */
export function Answer({ answer }: { readonly answer: Explanation }): ReactNode {
  const say = useSay()
  const [first, ...more] = answer.findings
  const { steps, next, nearest, looked_at: looked } = answer
  return (
    <div className="why-answer" role="status">
      {first !== undefined && (
        <Panel className="why-first">
          <Finding finding={first} />
          <Reading asked={answer.asked} />
        </Panel>
      )}
      {steps.length > 0 && (
        <Panel title={say('explain.steps')}>
          <div className="why-pad">
            <Steps steps={steps} />
          </div>
        </Panel>
      )}
      {more.length > 0 && (
        <Panel title={say('explain.also')}>
          {more.map((finding) => (
            <Finding key={finding.sentence} finding={finding} />
          ))}
        </Panel>
      )}
      {next !== null && (
        <Panel title={say('explain.next')}>
          <div className="why-pad">
            <Next next={next} />
            <Nearest label={say('explain.before')} planned={nearest?.before ?? null} />
            <Nearest label={say('explain.after')} planned={nearest?.after ?? null} />
          </div>
        </Panel>
      )}
      {looked !== null && !looked.complete && <p className="bad small">{say('explain.incomplete')}</p>}
    </div>
  )
}

function Reading({ asked }: { readonly asked: Explanation['asked'] }): ReactNode {
  const say = useSay()
  const { at, local, timezone, timezone_from: source, from, to } = asked
  if (at === null || local === null || timezone === null || from === null || to === null) return null
  const clock = (moment: string): string => moment.slice(11, 16)
  return (
    <p className="quiet small why-read">
      {say('explain.read', { local, zone: timezone, from: `${clock(from)}Z`, to: `${clock(to)}Z` })}{' '}
      {source !== null && source !== 'given' && say(`explain.readBy.${source}`)}
    </p>
  )
}

function Finding({ finding }: { readonly finding: ExplainFinding }): ReactNode {
  const { about, at, status, reason, rule, evidence, policy, links } = finding
  return (
    <div className="why-finding">
      <div className="why-when">
        {about !== null && <strong>{about}</strong>}
        {status !== null && isOutcome(status) && <OutcomeMark status={status} />}
        {at !== null && (
          <span className="quiet small">
            <Time at={at} show="short" />
          </span>
        )}
      </div>
      <Told why={{ reason, rule, evidence }} policy={policy} />
      <Doors links={links} />
    </div>
  )
}

const OUTCOMES: readonly string[] = [
  ...['waiting', 'queued', 'assigned', 'running', 'awaiting_callback', 'stopping', 'success', 'failed', 'timeout'],
  ...['cancelled', 'skipped', 'dropped', 'rejected', 'expired'],
]
const isOutcome = (status: string): status is RunView['status'] => OUTCOMES.includes(status)

function Nearest({ label, planned }: { readonly label: string; readonly planned: PlannedMoment | null }): ReactNode {
  const doors = useDoors()
  if (planned === null) return null
  return (
    <p className="why-nearest">
      <span className="quiet small">{label}</span>{' '}
      <Door to={doors.schedule(planned.schedule_id)} className="door door-seen">
        {planned.name}
      </Door>{' '}
      <Time at={planned.at} show="short" />
    </p>
  )
}
