import type { ReactNode } from 'react'
import type { ScheduleView } from '../../../../src/features/schedules/schema.ts'
import { StateDot } from '../../../parts/StateDot.tsx'
import { useSay } from '../../../texts/TextProvider.tsx'

/** Its state, what it does in words, and the note that people left on it. */
export function HeadLead({ schedule }: { readonly schedule: ScheduleView }): ReactNode {
  const say = useSay()
  const { state, sentence, description, timezone } = schedule
  return (
    <>
      <span className="one-state">
        <StateDot state={state} />
        <strong>{say(`state.${state}`)}</strong>
        <span>{sentence}</span>
        {!sentence.includes(timezone) && <span className="quiet">{timezone.replaceAll('_', ' ')}</span>}
      </span>
      {description !== '' && <p className="one-note">{description}</p>}
    </>
  )
}
