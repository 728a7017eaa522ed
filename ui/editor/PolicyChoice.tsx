import { Radio } from '@mantine/core'
import type { ReactNode } from 'react'
import { useSay } from '../texts/TextProvider.tsx'
import { useEditor } from './context.ts'
import { PolicyPicture } from './pictures.tsx'
import { POLICIES, policyName, policyText, type Policy } from './form/policies.ts'

/** A policy as a question with its answers: plain words, a picture of what happens, and the code as a quiet tag. */
export function PolicyChoice({ policy }: { readonly policy: Policy }): ReactNode {
  const say = useSay()
  const { form, set, errorOf } = useEditor()
  const { field, words } = POLICIES[policy]
  return (
    <Radio.Group
      {...{ value: form[field], error: errorOf(field), 'data-field': field }}
      label={say(`policy.${policy}`)}
      onChange={(word) => set({ [field]: word })}
    >
      <div className="policy-choices">
        {words.map((word) => (
          <Radio.Card key={word} value={word} className="policy-card" aria-label={say(policyName(policy, word))}>
            <span className="policy-head">
              <Radio.Indicator size="xs" />
              <strong>{say(policyName(policy, word))}</strong>
            </span>
            <PolicyPicture policy={policy} word={word} />
            <span className="policy-text">{say(policyText(policy, word))}</span>
            <code className="code-tag">{word}</code>
          </Radio.Card>
        ))}
      </div>
    </Radio.Group>
  )
}
