import { IconCircleCheck, IconCircleDashed, IconLock } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { RunDetail, RunView } from '../../../src/contract/run.ts'
import { isPending } from '../../api/run-actions.ts'
import { Fact } from '../../parts/Fact.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Sentence } from '../../parts/Sentence.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { explanationOf } from './queries.ts'

type Why = RunView['decision']

/** Why the run is where it is, why it was made, and on what evidence. */
export function WhyPanel({ run }: { readonly run: RunDetail }): ReactNode {
  const say = useSay()
  // Of what has ended it is on record; of what waits the server works it out.
  const explained = useQuery({ ...explanationOf(run.id), enabled: isPending(run) }).data
  const why: Why = (isPending(run) ? explained : undefined) ?? run.why
  const isOne = why.reason === run.decision.reason
  return (
    <Panel title={say('run.why')} className="why">
      <Reason {...(isOne ? {} : { title: say('run.whyNow') })} why={why} />
      {isWaiting(run) && <Gates why={why} />}
      {!isOne && <Reason title={say('run.whyMade')} why={run.decision} />}
    </Panel>
  )
}

const isWaiting = ({ status }: RunDetail): boolean => status === 'waiting' || status === 'queued'

function Reason({ title, why }: { readonly title?: string; readonly why: Why }): ReactNode {
  const say = useSay()
  const facts = Object.entries(why.evidence)
  return (
    <div className="why-part">
      {title !== undefined && <h3>{title}</h3>}
      <p className="why-sentence">
        <Sentence why={why} />
      </p>
      <div className="why-codes">
        <span className="tag">{why.reason}</span>
        <span className="quiet small">{say('run.rule', { rule: why.rule })}</span>
      </div>
      {facts.length > 0 && (
        <details className="why-evidence">
          <summary>{say('run.evidence')}</summary>
          <dl className="facts">
            {facts.map(([name, value]) => (
              <div key={name}>
                <dt>
                  <code>{name}</code>
                </dt>
                <dd>
                  <Fact value={value} />
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </div>
  )
}

/** What is asked before a run starts, in this order; the first that is closed is why it waits. */
const GATES = [
  ...(['not_before', 'awaiting_stop', 'session_order', 'session_limit', 'schedule_limit', 'agent_limit'] as const),
  ...(['org_limit', 'budget', 'provider_quota', 'executor_offline', 'catchup_limit', 'lane_full', 'picked'] as const),
]
/** Reasons that are another gate in other words. */
const SAME: Readonly<Record<string, (typeof GATES)[number]>> = {
  ...{ context_throttle: 'session_limit', worker_busy: 'executor_offline', debouncing: 'not_before' },
  ...{ provider_limit: 'provider_quota' },
  ...{ retry_scheduled: 'not_before', delayed: 'not_before' },
}

function Gates({ why }: { readonly why: Why }): ReactNode {
  const say = useSay()
  const closed = GATES.findIndex((gate) => gate === (SAME[why.reason] ?? why.reason))
  if (closed < 0) return null
  return (
    <div className="why-part">
      <h3>{say('run.gates')}</h3>
      <ul className="gates">
        {GATES.map((gate, index) => {
          const state = index < closed ? 'open' : index === closed ? 'closed' : 'unseen'
          const Icon = state === 'open' ? IconCircleCheck : state === 'closed' ? IconLock : IconCircleDashed
          const word = say(`run.gate.${state}`)
          return (
            <li key={gate} data-state={state}>
              <Icon size={14} role="img" aria-label={word} title={word} />
              {say(`run.gate.${gate}`)}
            </li>
          )
        })}
      </ul>
    </div>
  )
}
