import type { ReactNode } from 'react'
import type { ExplainPolicy } from '../../../src/features/explain/schema.ts'
import type { RunView } from '../../../src/features/runs/schema.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { Fact } from '../Fact.tsx'
import { Sentence } from '../Sentence.tsx'
import './explain.css'

interface ToldProps {
  readonly why: RunView['decision']
  readonly policy: ExplainPolicy
  /** Said instead of the words of the reason, where the server has better ones. */
  readonly sentence?: string
  /** Before the sentence: what it is about. */
  readonly about?: ReactNode
}

/** A reason: its sentence, the rule that spoke, and what was looked at. */
export function Told({ why, policy, sentence, about }: ToldProps): ReactNode {
  const say = useSay()
  const facts = Object.entries(why.evidence)
  const rule = policy.value === null ? policy.name : `${policy.name} = ${policy.value}`
  return (
    <div className="told">
      <p className="told-sentence">
        {about}
        {sentence ?? <Sentence why={why} />}
      </p>
      <div className="told-codes">
        <span className="tag">{why.reason}</span>
        <span className="quiet small">{say('explain.docs', { rule, page: policy.documentation })}</span>
      </div>
      {facts.length > 0 && (
        <details className="told-evidence">
          <summary>{say('run.evidence')}</summary>
          <dl className="told-facts">
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
