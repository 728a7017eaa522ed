import { Radio, Select, Switch } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api } from '../api/client.ts'
import { useMay } from '../api/session.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { useEditor } from './context.ts'
import { NumberField, TextField } from './fields.tsx'
import { Fold } from './Section.tsx'

const FIELDS = [
  'session',
  'lane',
  'delivery',
  'max_fires',
  'jitter_ms',
  'delete_after_run',
  'alert_after',
  'max_lateness_seconds',
]
const SESSIONS = ['isolated', 'main', 'named'] as const

/** Where results go, which session it speaks in, and how far it may go. */
export function AfterSection(): ReactNode {
  const say = useSay()
  const { form, set, isWrongIn } = useEditor()
  const target = useTargets().find(({ id }) => id === form.target_id)
  const summary = [
    form.target_id === null ? say('edit.target.none') : (target?.name ?? form.target_id),
    say(`edit.session.${form.session_as}`),
    ...(form.max_fires === '' ? [] : [say('edit.maxFires.short', { count: form.max_fires })]),
  ].join(' · ')
  return (
    <Fold title={say('edit.after')} number={6} summary={summary} isWrong={isWrongIn(FIELDS)}>
      <TargetField />
      <Radio.Group
        {...{ value: form.session_as, label: say('edit.session') }}
        onChange={(as) => set({ session_as: as })}
      >
        <div className="edit-radios edit-column">
          {SESSIONS.map((as) => (
            <Radio
              key={as}
              value={as}
              size="xs"
              label={say(`edit.session.${as}`)}
              description={say(`edit.session.${as}.hint`)}
            />
          ))}
        </div>
      </Radio.Group>
      {form.session_as === 'named' && (
        <TextField name="session" named="edit.session.key" example="edit.session.example" isCode />
      )}
      <div className="edit-pair">
        <NumberField name="max_fires" named="edit.maxFires" example="edit.unlimited" min={1} />
        <NumberField name="jitter_seconds" named="edit.spread" isWhole={false} knownAs={['jitter_ms']} />
        <NumberField name="alert_after" named="edit.alertAfter" example="edit.alertAfter.usual" min={1} />
        <NumberField name="max_lateness_seconds" named="edit.maxLateness" example="edit.never" min={1} />
        <TextField name="lane" named="edit.lane" example="edit.lane.usual" />
      </div>
      {form.kind === 'at' && (
        <Switch
          {...{ checked: form.delete_after_run, size: 'xs', label: say('edit.deleteAfter') }}
          onChange={(event) => set({ delete_after_run: event.currentTarget.checked })}
        />
      )}
    </Fold>
  )
}

const targetList = queryOptions({
  queryKey: ['targets', 'list'],
  queryFn: ({ signal }) => api.targets.list({ limit: 200 }, { signal }),
})

const useTargets = () => useQuery({ ...targetList, enabled: useMay('targets:read') }).data?.items ?? []

function TargetField(): ReactNode {
  const say = useSay()
  const { form, set, errorOf } = useEditor()
  const targets = useTargets()
  const names = targets.map(({ id, name, enabled }) => ({
    value: id,
    label: enabled ? name : say('edit.target.off', { name }),
  }))
  const { target_id: chosen } = form
  const isKnown = chosen === null || targets.some(({ id }) => id === chosen)
  return (
    <Select
      {...{ label: say('edit.target'), value: chosen, error: errorOf('delivery', 'delivery.target_id') }}
      {...{ clearable: true, searchable: true, placeholder: say('edit.target.none') }}
      nothingFoundMessage={say('edit.target.nothing')}
      data={isKnown ? names : [{ value: chosen, label: chosen }, ...names]}
      onChange={(target) => set({ target_id: target })}
    />
  )
}
