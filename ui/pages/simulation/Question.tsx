import { ActionIcon, Button, Checkbox, MultiSelect, NumberInput, Select, Switch, TextInput } from '@mantine/core'
import { IconPlayerPlay, IconPlus, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { OUTAGE_KINDS } from '../../../src/api/outages.ts'
import { schedulePage } from '../../api/queries.ts'
import { Panel } from '../../parts/Panel.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { formOf, LENGTHS, searchOf, type PartProps } from './form.ts'
import { Policies } from './Policies.tsx'
import { draftIn, type OutageForm, type SimulateSearch } from './simulation-search.ts'

interface QuestionProps {
  readonly search: SimulateSearch
  readonly isComputing: boolean
  readonly ask: (search: SimulateSearch) => void
}

/** Which schedules, over which window, under which assumptions. */
export function Question({ search, isComputing, ask }: QuestionProps): ReactNode {
  const say = useSay()
  const [form, setForm] = useState(() => formOf(search))
  const part: PartProps = { form, set: (change) => setForm((before) => ({ ...before, ...change })) }
  const isAsked = form.all || form.ids.length > 0 || form.draft !== undefined
  return (
    <Panel className="simulate-question">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (isAsked) ask(searchOf(form, Date.now()))
        }}
      >
        <Which {...part} />
        <Window {...part} />
        <Assumptions {...part} />
        <Policies {...part} />
        <div className="simulate-go">
          <Button
            {...{ type: 'submit', disabled: !isAsked, loading: isComputing }}
            leftSection={<IconPlayerPlay size={14} aria-hidden />}
          >
            {say('sim.go')}
          </Button>
        </div>
      </form>
    </Panel>
  )
}

const MOST_CHOICES = 200

function Which({ form, set }: PartProps): ReactNode {
  const say = useSay()
  const schedules = useQuery(schedulePage({ sort: 'name', limit: MOST_CHOICES })).data?.items ?? []
  const draft = draftIn(form.draft === undefined ? {} : { draft: form.draft })
  const known = new Set(schedules.map(({ id }) => id))
  const data = [
    ...schedules.map(({ id, name }) => ({ value: id, label: name })),
    ...form.ids.filter((id) => !known.has(id)).map((id) => ({ value: id, label: id })),
  ]
  return (
    <fieldset>
      <legend>{say('sim.which')}</legend>
      {draft !== null && (
        <div className="simulate-draft">
          <span>{say('sim.which.draft', { name: draft.name ?? say('sim.which.unnamed') })}</span>
          <ActionIcon aria-label={say('sim.which.draftGone')} onClick={() => set({ draft: undefined })}>
            <IconX size={14} aria-hidden />
          </ActionIcon>
        </div>
      )}
      <MultiSelect
        {...{ data, value: [...form.ids], searchable: true, clearable: true, disabled: form.all }}
        {...{ 'aria-label': say('sim.which'), nothingFoundMessage: say('sim.which.none') }}
        placeholder={form.ids.length === 0 ? say('sim.which.choose') : ''}
        onChange={(ids) => set({ ids })}
      />
      <Checkbox
        {...{ checked: form.all, size: 'xs', label: say('sim.which.all') }}
        onChange={(event) => set({ all: event.currentTarget.checked })}
      />
    </fieldset>
  )
}

function Window({ form, set }: PartProps): ReactNode {
  const say = useSay()
  const lengths = LENGTHS.map((value) => ({ value, label: say(`sim.for.${value}`) }))
  const data = lengths.some(({ value }) => value === form.for)
    ? lengths
    : [...lengths, { value: form.for, label: form.for }]
  return (
    <fieldset>
      <legend>{say('sim.window')}</legend>
      <div className="simulate-pair">
        <TextInput
          {...{ type: 'datetime-local', step: 1, value: form.from, label: say('sim.from') }}
          onChange={(event) => set({ from: event.currentTarget.value })}
        />
        <Select
          {...{ data, value: form.for, allowDeselect: false, label: say('sim.for') }}
          onChange={(length) => set({ for: length ?? '24h' })}
        />
      </div>
      <Switch
        {...{ checked: form.replay, size: 'xs', label: say('sim.replay'), description: say('sim.replay.hint') }}
        onChange={(event) => set({ replay: event.currentTarget.checked })}
      />
    </fieldset>
  )
}

function Assumptions({ form, set }: PartProps): ReactNode {
  const say = useSay()
  const number = (value: string | number): number | '' => (typeof value === 'number' ? value : '')
  return (
    <fieldset>
      <legend>{say('sim.assume')}</legend>
      <div className="simulate-three">
        <TextInput
          {...{ value: form.takes, label: say('sim.takes'), placeholder: say('sim.takes.observed') }}
          onChange={(event) => set({ takes: event.currentTarget.value })}
        />
        <NumberInput
          {...{ value: form.fails, min: 0, max: 100, label: say('sim.fails'), hideControls: true }}
          onChange={(value) => set({ fails: number(value) })}
        />
        <NumberInput
          {...{ value: form.tokens, min: 0, label: say('sim.tokens'), hideControls: true }}
          onChange={(value) => set({ tokens: number(value) })}
        />
      </div>
      {!form.replay && <Outages outages={form.outages} change={(outages) => set({ outages })} />}
    </fieldset>
  )
}

interface OutagesProps {
  readonly outages: readonly OutageForm[]
  readonly change: (outages: readonly OutageForm[]) => void
}

function Outages({ outages, change }: OutagesProps): ReactNode {
  const say = useSay()
  const put = (at: number, part: Partial<OutageForm>): void =>
    change(outages.map((one, index) => (index === at ? { ...one, ...part } : one)))
  return (
    <div className="simulate-outages">
      {outages.map((outage, index) => (
        <div key={index} className="simulate-outage">
          <Select
            {...{ value: outage.kind, allowDeselect: false, 'aria-label': say('sim.outages.kind') }}
            data={OUTAGE_KINDS.map((value) => ({ value, label: say(`sim.outage.${value}`) }))}
            onChange={(kind) => put(index, { kind: kind ?? 'stall' })}
          />
          <TextInput
            {...{ value: outage.lasts, 'aria-label': say('sim.outages.lasts'), leftSection: say('sim.outages.lasts') }}
            onChange={(event) => put(index, { lasts: event.currentTarget.value })}
          />
          <TextInput
            {...{ value: outage.after, 'aria-label': say('sim.outages.after'), leftSection: say('sim.outages.after') }}
            onChange={(event) => put(index, { after: event.currentTarget.value })}
          />
          <ActionIcon
            aria-label={say('sim.outages.remove')}
            onClick={() => change(outages.filter((_, at) => at !== index))}
          >
            <IconX size={14} aria-hidden />
          </ActionIcon>
        </div>
      ))}
      <Button
        {...{ variant: 'subtle', color: 'gray', size: 'compact-sm' }}
        leftSection={<IconPlus size={13} aria-hidden />}
        onClick={() => change([...outages, { kind: 'stall', lasts: '60s', after: '2m' }])}
      >
        {say('sim.outages.add')}
      </Button>
    </div>
  )
}
