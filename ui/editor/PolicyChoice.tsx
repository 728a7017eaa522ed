import { Radio } from '@mantine/core'
import type { ReactNode } from 'react'
import type { PlainKey } from '../texts/fill.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { useEditor } from './context.ts'
import { PolicyPicture } from './pictures.tsx'

/** The words of each policy, the usual one first. */
export const POLICIES = {
  misfire: { field: 'misfire_policy', words: ['CATCH_UP_LIMITED', 'FIRE_NOW', 'SKIP'] },
  overlap: { field: 'overlap_action', words: ['ALLOW', 'SKIP', 'BUFFER_ONE', 'CANCEL_PREV', 'PARALLEL'] },
  concurrency: { field: 'concurrency_policy', words: ['QUEUE', 'SKIP', 'PARALLEL'] },
  failure: { field: 'failure_action', words: ['RUN_NEW', 'RETRY', 'SKIP', 'BACKOFF', 'HALF_OPEN'] },
} as const
/** The name of a policy. */
export type Policy = keyof typeof POLICIES

/** The name of a choice, in plain words. */
export const policyName = (policy: Policy, word: string): PlainKey => `policy.${policy}.${word}` as PlainKey
/** What it does, in a sentence. */
export const policyText = (policy: Policy, word: string): PlainKey => `policy.${policy}.${word}.text` as PlainKey

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
