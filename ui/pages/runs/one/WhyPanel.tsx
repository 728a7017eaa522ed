import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { RunDetail } from '../../../../src/features/runs/schema.ts'
import { isPending } from '../../../api/run-actions.ts'
import { Doors } from '../../../parts/explain/Doors.tsx'
import { Next } from '../../../parts/explain/Next.tsx'
import { Steps } from '../../../parts/explain/Steps.tsx'
import { Told } from '../../../parts/explain/Told.tsx'
import { Lines } from '../../../parts/Lines.tsx'
import { Panel } from '../../../parts/Panel.tsx'
import { Sentence } from '../../../parts/Sentence.tsx'
import { useSay } from '../../../texts/TextProvider.tsx'
import { explanationOf } from '../queries.ts'

/** Why the run is where it is: the sentence, the rule, the questions on its way, what it leads to and what can be done. */
export function WhyPanel({ run }: { readonly run: RunDetail }): ReactNode {
  const say = useSay()
  // Of what waits the server works it out again and again; of what has ended once is enough.
  const { data } = useQuery(explanationOf(run.id, isPending(run)))
  if (data === undefined)
    return (
      <Panel title={say('run.why')} className="why">
        <div className="why-part">
          <p className="why-sentence">
            <Sentence why={run.why} />
          </p>
          <Lines count={3} />
        </div>
      </Panel>
    )
  const { reason, rule, evidence, policy, steps, links, next, decision, held_decision: held } = data
  return (
    <Panel title={say('run.why')} className="why">
      <div className="why-part">
        <Told why={{ reason, rule, evidence }} policy={policy} />
      </div>
      {decision.reason !== reason && (
        <div className="why-part">
          <h3>{say('run.whyMade')}</h3>
          <p className="why-sentence">
            <Sentence why={decision} />
          </p>
        </div>
      )}
      {held !== null && (
        <div className="why-part">
          <h3>{say('run.whyHeld')}</h3>
          <p className="why-sentence">
            <Sentence why={held} />
          </p>
        </div>
      )}
      <div className="why-part">
        <h3>{say('explain.steps')}</h3>
        <Steps steps={steps} />
      </div>
      <div className="why-part">
        <h3>{say('explain.links')}</h3>
        <Doors links={links.filter(({ id, kind }) => kind !== 'run' || id !== run.id)} />
      </div>
      <div className="why-part">
        <h3>{say('explain.next')}</h3>
        <Next next={next} />
      </div>
    </Panel>
  )
}
