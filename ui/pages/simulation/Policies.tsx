import { NumberInput, Select, Switch } from '@mantine/core'
import type { ReactNode } from 'react'
import { POLICIES, policyName, type Policy } from '../../editor/form/policies.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import type { PartProps } from './form.ts'
import type { PolicySet } from './simulation-search.ts'

const CHOICES = Object.keys(POLICIES) as readonly Policy[]

/** Other policies than the schedules have, and a second set to compare with. */
export function Policies({ form, set }: PartProps): ReactNode {
  const say = useSay()
  return (
    <fieldset className="simulate-rules">
      <legend>{say('sim.policies')}</legend>
      <PolicySide title={say('sim.policies.a')} policies={form.set} change={(policies) => set({ set: policies })} />
      <Switch
        {...{ checked: form.isCompared, size: 'xs', label: say('sim.compare') }}
        onChange={(event) => set({ isCompared: event.currentTarget.checked })}
      />
      {form.isCompared && (
        <PolicySide
          title={say('sim.policies.b')}
          policies={form.against}
          change={(policies) => set({ against: policies })}
        />
      )}
    </fieldset>
  )
}

interface PolicySideProps {
  readonly title: string
  readonly policies: PolicySet
  readonly change: (policies: PolicySet) => void
}

function PolicySide({ title, policies, change }: PolicySideProps): ReactNode {
  const say = useSay()
  const put = (field: string, value: string): void => change({ ...policies, [field]: value })
  const slots = policies['max_concurrency'] ?? ''
  return (
    <div className="simulate-policies" role="group" aria-label={title}>
      <span className="field-name">{title}</span>
      {CHOICES.map((policy) => {
        const { field, words } = POLICIES[policy]
        return (
          <Select
            key={policy}
            {...{ value: policies[field] ?? null, clearable: true, placeholder: say('sim.policies.as') }}
            {...{ label: say(`policy.${policy}`), onChange: (word) => put(field, word ?? '') }}
            data={words.map((word) => ({ value: word, label: say(policyName(policy, word)) }))}
          />
        )
      })}
      <NumberInput
        {...{ value: slots === '' ? '' : Number(slots), min: 1, max: 10_000, hideControls: true }}
        {...{ label: say('sim.maxConcurrency'), placeholder: say('sim.policies.as') }}
        onChange={(value) => put('max_concurrency', String(value))}
      />
    </div>
  )
}
