import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { RunExplanation } from '../../../../src/features/explain/schema.ts'
import type { RunDetail } from '../../../../src/features/runs/schema.ts'
import { isPending } from '../../../api/run-actions.ts'
import { Doors } from '../../../parts/explain/Doors.tsx'
import { Next } from '../../../parts/explain/Next.tsx'
import { Steps } from '../../../parts/explain/Steps.tsx'
import { Told } from '../../../parts/explain/Told.tsx'
import { Panel } from '../../../parts/Panel.tsx'
import { Sentence } from '../../../parts/Sentence.tsx'
import { useSay } from '../../../texts/TextProvider.tsx'
import { explanationOf } from '../queries.ts'

/** Why the run is where it is, in one sentence; what it rests on is folded. */
export function WhyPanel({ run }: { readonly run: RunDetail }): ReactNode {
  const say = useSay()
  // Of what waits the server works it out again and again; of what has ended once is enough.
  const { data } = useQuery(explanationOf(run.id, isPending(run)))
  // An explanation of an earlier state would contradict the page.
  const told = data?.status === run.status ? data : undefined
  const { reason, rule, evidence } = told ?? run.why
  return (
    <Panel title={say('run.why')} className="why">
      <div className="why-part">
        <p className="why-sentence">
          <Sentence why={{ reason, rule, evidence }} />
        </p>
        {told !== undefined && <Evidence told={told} run={run} />}
      </div>
    </Panel>
  )
}

function Evidence({ told, run }: { readonly told: RunExplanation; readonly run: RunDetail }): ReactNode {
  const say = useSay()
  const { reason, rule, evidence, policy, steps, links, next, decision, held_decision: held } = told
  return (
    <details className="why-evidence">
      <summary>{say('run.whyAll')}</summary>
      <Told why={{ reason, rule, evidence }} policy={policy} sentence="" />
      {[
        decision.reason === reason ? null : ([say('run.whyMade'), decision] as const),
        held === null ? null : ([say('run.whyHeld'), held] as const),
      ].map(
        (part) =>
          part !== null && (
            <div key={part[0]}>
              <h3>{part[0]}</h3>
              <p className="why-sentence">
                <Sentence why={part[1]} />
              </p>
            </div>
          ),
      )}
      <h3>{say('explain.steps')}</h3>
      <Steps steps={steps} />
      <h3>{say('explain.links')}</h3>
      <Doors links={links.filter(({ id, kind }) => kind !== 'run' || id !== run.id)} />
      <h3>{say('explain.next')}</h3>
      <Next next={next} />
    </details>
  )
}
