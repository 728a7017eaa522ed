import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { PaceStepView, PaceView } from '../../../../src/features/schedules/rules-schema.ts'
import { Panel } from '../../../parts/Panel.tsx'
import { useSay } from '../../../texts/TextProvider.tsx'
import { Time } from '../../../time/Time.tsx'
import './pace.css'

interface PaceProps {
  readonly pace: PaceView
  readonly zone: string
}

/** How often it comes now and why, what comes next, and how it came to this. */
export function Pace({ pace, zone }: PaceProps): ReactNode {
  const say = useSay()
  return (
    <Panel title={say('pace.title')} className="one-pace">
      <p>{pace.sentence}</p>
      <p className="quiet small">{pace.because.sentence}</p>
      {pace.next.length > 0 && (
        <ul className="pace-next" aria-label={say('pace.next')}>
          {pace.next.map(({ at, certainty }) => (
            <li key={at} data-certainty={certainty}>
              <Time at={at} show="wall" /> <span className="quiet">{say(`pace.${certainty}`)}</span>
            </li>
          ))}
        </ul>
      )}
      {pace.recent.length > 0 && <Path steps={pace.recent.toReversed()} zone={zone} />}
    </Panel>
  )
}

/** The last intervals as bars, oldest first: the longer, the higher. */
function Path({ steps, zone }: { readonly steps: readonly PaceStepView[]; readonly zone: string }): ReactNode {
  const say = useSay()
  const longest = Math.max(...steps.map(({ interval_seconds: seconds }) => seconds))
  return (
    <ol className="pace-path" aria-label={say('pace.path')}>
      {steps.map((step) => (
        <li key={`${step.run_id} ${step.at}`}>
          <Link
            to="/automation/runs/$id"
            params={{ id: step.run_id }}
            className="pace-step"
            aria-label={say('pace.step', {
              what: say(`pace.step.${nameOf(step)}`),
              length: lengthOf(step.interval_seconds),
            })}
          >
            <span className="pace-bar" data-why={nameOf(step)} style={{ height: `${heightOf(step, longest)}%` }} />
            <span className="pace-length">{lengthOf(step.interval_seconds)}</span>
            <span className="quiet">
              <Time at={step.at} zone={zone} />
            </span>
          </Link>
        </li>
      ))}
    </ol>
  )
}

const LEAST = 8

const heightOf = ({ interval_seconds: seconds }: PaceStepView, longest: number): number =>
  Math.max(LEAST, Math.round((100 * seconds) / longest))

const nameOf = ({ reason }: PaceStepView): 'quiet' | 'changed' | 'proposed' =>
  reason === 'pace_quiet' ? 'quiet' : reason === 'pace_proposed' ? 'proposed' : 'changed'

/** Short enough to stand below a bar. */
function lengthOf(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`
  if (seconds < 3_600) return `${Math.round(seconds / 60)} m`
  return `${Math.round(seconds / 360) / 10} h`
}
