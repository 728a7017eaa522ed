import { Button, NumberInput, Select, Tabs, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ScheduleView } from '../../src/features/schedules/schema.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { useEditor } from './context.ts'
import { ChoiceField, TextBox, TextField } from './fields.tsx'
import { UNITS, type Unit } from './form/form.ts'
import { PaceFields } from './PaceFields.tsx'
import { Section } from './Section.tsx'
import { WordsLine } from './WordsLine.tsx'
import { ZonePicker } from './ZonePicker.tsx'

const KINDS: readonly ScheduleView['kind'][] = ['cron', 'every', 'at', 'rrule']

/** When it happens: four ways to say it, each with what people usually want. */
export function WhenSection(): ReactNode {
  const say = useSay()
  const { form, set } = useEditor()
  return (
    <Section title={say('edit.when')} number={2}>
      <WordsLine />
      <Tabs value={form.kind} onChange={(kind) => set({ kind: (kind ?? 'cron') as ScheduleView['kind'] })}>
        <Tabs.List aria-label={say('edit.when')}>
          {KINDS.map((kind) => (
            <Tabs.Tab key={kind} value={kind}>
              {say(`edit.kind.${kind}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="cron" className="edit-kind">
          <Expression name="cron" examples={CRON} />
        </Tabs.Panel>
        <Tabs.Panel value="every" className="edit-kind">
          <EveryField />
          <PaceFields />
        </Tabs.Panel>
        <Tabs.Panel value="at" className="edit-kind">
          <TextField name="at" named="edit.at" type="datetime-local" hint="edit.at.hint" />
        </Tabs.Panel>
        <Tabs.Panel value="rrule" className="edit-kind">
          <Expression name="rrule" examples={RULES} />
        </Tabs.Panel>
      </Tabs>
      <ZonePicker />
      <details className="edit-more">
        <summary>{say('edit.bounds')}</summary>
        <div className="edit-pair">
          <TextField name="starts_at" named="edit.startsAt" type="datetime-local" />
          <TextField name="ends_at" named="edit.endsAt" type="datetime-local" />
        </div>
        <TextBox
          name="exclude"
          named="edit.exclude"
          hint="edit.exclude.hint"
          rows={2}
          isCode
          knownAs={['exclude', 'exclude.0']}
        />
        {form.kind === 'cron' && (
          <div className="edit-pair">
            <ChoiceField name="dst" named="edit.dst" choices={DST} />
            <ChoiceField name="day_match" named="edit.dayMatch" choices={DAY_MATCH} />
          </div>
        )}
      </details>
    </Section>
  )
}

const DST = [
  ['vixie', 'edit.dst.vixie'],
  ['skip', 'edit.dst.skip'],
  ['shift', 'edit.dst.shift'],
  ['both', 'edit.dst.both'],
] as const
const DAY_MATCH = [
  ['or', 'edit.dayMatch.or'],
  ['and', 'edit.dayMatch.and'],
] as const

const CRON = [
  ['*/30 * * * *', 'edit.example.halfHour'],
  ['0 9 * * *', 'edit.example.daily'],
  ['0 9 * * 1-5', 'edit.example.weekdays'],
  ['0 8 1 * *', 'edit.example.monthly'],
] as const
const RULES = [
  ['FREQ=DAILY;INTERVAL=2;BYHOUR=9;BYMINUTE=0;BYSECOND=0', 'edit.example.everyOther'],
  ['FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17;BYMINUTE=0;BYSECOND=0', 'edit.example.lastFriday'],
] as const

interface ExpressionProps {
  readonly name: 'cron' | 'rrule'
  readonly examples: typeof CRON | typeof RULES
}

/** An expression, and a few that most people want. */
function Expression({ name, examples }: ExpressionProps): ReactNode {
  const say = useSay()
  const { form, set, errorOf } = useEditor()
  return (
    <>
      <TextInput
        {...{ value: form[name], error: errorOf(name), 'data-field': name, size: 'sm', spellCheck: false }}
        {...{ autoComplete: 'off', classNames: { input: 'code-input' }, placeholder: examples[0][0] }}
        label={say(`edit.${name}`)}
        description={say(`edit.${name}.hint`)}
        onChange={(event) => set({ [name]: event.currentTarget.value, anchor: '' })}
      />
      <div className="edit-examples">
        {examples.map(([expression, label]) => (
          <Button
            key={expression}
            variant="default"
            size="compact-xs"
            onClick={() => set({ [name]: expression, anchor: '' })}
          >
            {say(label)}
          </Button>
        ))}
      </div>
    </>
  )
}

function EveryField(): ReactNode {
  const say = useSay()
  const { form, set, errorOf } = useEditor()
  const units = Object.keys(UNITS) as readonly Unit[]
  return (
    <div className="edit-pair">
      <NumberInput
        {...{ label: say('edit.every'), value: form.every, min: 1, clampBehavior: 'none', 'data-field': 'every' }}
        {...{ error: errorOf('every_seconds', 'everyMs') }}
        onChange={(value) => set({ every: typeof value === 'number' ? value : '' })}
      />
      <Select
        {...{ label: say('edit.unit'), value: form.unit, allowDeselect: false }}
        data={units.map((unit) => ({ value: unit, label: say(`edit.unit.${unit}`) }))}
        onChange={(unit) => set({ unit: unit ?? 'minutes' })}
      />
    </div>
  )
}
