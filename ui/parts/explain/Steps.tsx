import { IconCircleCheck, IconCircleDashed, IconLock } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { ExplainStep } from '../../../src/features/explain/schema.ts'
import { stepTexts } from '../../texts/steps.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import './explain.css'

const ICONS = { passed: IconCircleCheck, closed: IconLock, not_reached: IconCircleDashed } as const

/** Attempts are numbered and have no words of their own. */
const isKey = (key: string): key is keyof typeof stepTexts.en => key in stepTexts.en

/** Every question on the way, stage by stage; what is closed says why. */
export function Steps({ steps }: { readonly steps: readonly ExplainStep[] }): ReactNode {
  const say = useSay()
  const stages = [...new Set(steps.map(({ stage }) => stage))]
  return (
    <div className="steps">
      {stages.map((stage) => (
        <section key={stage} aria-label={say(`explain.stage.${stage}`)}>
          <h4>{say(`explain.stage.${stage}`)}</h4>
          <ul>
            {steps
              .filter((step) => step.stage === stage)
              .map((step) => (
                <Step key={step.name} step={step} />
              ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

function Step({ step }: { readonly step: ExplainStep }): ReactNode {
  const say = useSay()
  const Icon = ICONS[step.state]
  const word = say(`explain.state.${step.state}`)
  const key = `step.${step.name}`
  return (
    <li data-state={step.state} className={step.sentence === null ? 'step' : 'step step-told'}>
      <Icon size={14} role="img" aria-label={word} title={word} />
      <span title={step.name}>{isKey(key) ? say(key) : step.name}</span>
      {step.sentence !== null && <span className="step-said">{step.sentence}</span>}
    </li>
  )
}
