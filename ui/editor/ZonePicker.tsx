import { Select, type ComboboxItem, type OptionsFilter } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTexts } from '../texts/TextProvider.tsx'
import { useNow } from '../time/clock.ts'
import { offsetName } from '../time/wall.ts'
import { clockTime, OWN_ZONE } from '../time/zone.ts'
import { useEditor } from './context.ts'

const MINUTE = 60_000
const MOST_LISTED = 60
const ZONES = [...new Set([OWN_ZONE, 'UTC', ...Intl.supportedValuesOf('timeZone')])]

const plain = (text: string): string => text.toLowerCase().replaceAll(/[_/\s]+/g, ' ')

/** Every word that was typed occurs in the name: `new york` finds America/New_York. */
const fits: OptionsFilter = ({ options, search, limit }) => {
  const words = plain(search).split(' ')
  return (options as readonly ComboboxItem[])
    .filter(({ value }) => words.every((word) => plain(value).includes(word)))
    .slice(0, limit)
}

/** The zone whose wall clock the schedule goes by, found by typing a part of its name; each tells what time it is there. */
export function ZonePicker(): ReactNode {
  const { say, locale } = useTexts()
  const { form, set, errorOf } = useEditor()
  const now = useNow(MINUTE)
  const zones = ZONES.includes(form.timezone) ? ZONES : [form.timezone, ...ZONES]
  return (
    <Select
      {...{ label: say('edit.zone'), value: form.timezone, error: errorOf('timezone'), 'data-field': 'timezone' }}
      {...{ searchable: true, allowDeselect: false, limit: MOST_LISTED, filter: fits, maxDropdownHeight: 280 }}
      nothingFoundMessage={say('edit.zone.none')}
      data={zones.map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ') }))}
      onChange={(zone) => set({ timezone: zone ?? form.timezone })}
      renderOption={({ option }) => (
        <span className="zone-option">
          <span>{option.label}</span>
          <span className="quiet">
            {clockTime(now, { locale, zone: option.value })} · {offsetName(now, option.value)}
          </span>
        </span>
      )}
    />
  )
}
