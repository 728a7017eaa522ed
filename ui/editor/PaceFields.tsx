import { Switch } from '@mantine/core'
import type { ReactNode } from 'react'
import { useSay } from '../texts/TextProvider.tsx'
import { useEditor } from './context.ts'
import { NumberField } from './fields.tsx'

/** The bounds of an adaptive interval; off by default. */
export function PaceFields(): ReactNode {
  const say = useSay()
  const { form, set } = useEditor()
  return (
    <>
      <Switch
        {...{ label: say('pace.on'), description: say('pace.on.hint'), checked: form.is_paced, size: 'sm' }}
        data-field="is_paced"
        onChange={(event) => set({ is_paced: event.currentTarget.checked })}
      />
      {form.is_paced && (
        <>
          <div className="edit-pair">
            <NumberField
              {...{ name: 'pace_min', named: 'pace.min', isWhole: false }}
              knownAs={['cadence.min_seconds', 'cadence']}
            />
            <NumberField
              {...{ name: 'pace_max', named: 'pace.max', isWhole: false }}
              knownAs={['cadence.max_seconds']}
            />
          </div>
          <div className="edit-pair">
            <NumberField
              {...{ name: 'pace_stretch', named: 'pace.stretch', hint: 'pace.stretch.hint', isWhole: false }}
              {...{ min: 1, max: 10, knownAs: ['cadence.stretch'] }}
            />
            <NumberField
              {...{ name: 'pace_quiet_after', named: 'pace.quietAfter', hint: 'pace.quietAfter.hint', min: 1 }}
              knownAs={['cadence.quiet_after']}
            />
          </div>
        </>
      )}
    </>
  )
}
