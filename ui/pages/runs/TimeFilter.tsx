import { Select, TextInput } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { useSay } from '../../texts/TextProvider.tsx'
import { momentOf, wallTime } from '../../time/wall.ts'
import { OWN_ZONE } from '../../time/zone.ts'
import { QUIET } from '../../forms/quiet.ts'
import { WITHIN, type Change, type RunSearch, type Within } from './run-search.ts'

interface TimeFilterProps {
  readonly search: RunSearch
  readonly change: (part: Change) => void
}

const BETWEEN = 'between'
const DAY = 86_400_000

/** When the runs were made: lately, or between two moments of the person's clock. */
export function TimeFilter({ search, change }: TimeFilterProps): ReactNode {
  const say = useSay()
  const { within, from, to } = search
  const isBetween = from !== undefined || to !== undefined
  const choose = (chosen: string | null): void => {
    if (chosen === BETWEEN) change({ within: null, from: new Date(Date.now() - DAY).toISOString() })
    else change({ within: chosen, from: null, to: null })
  }
  return (
    <>
      <Select
        {...{ ...QUIET, value: isBetween ? BETWEEN : (within ?? null), 'aria-label': say('runs.time') }}
        onChange={choose}
        placeholder={say('runs.time.any')}
        data={[
          ...(Object.keys(WITHIN) as Within[]).map((value) => ({ value, label: say(`runs.time.${value}`) })),
          { value: BETWEEN, label: say('runs.time.between') },
        ]}
      />
      {isBetween && (
        <div className="run-between">
          <Moment key={`from ${from}`} name="from" at={from} change={change} />
          <Moment key={`to ${to}`} name="to" at={to} change={change} />
          <span className="quiet small">{OWN_ZONE}</span>
        </div>
      )}
    </>
  )
}

interface MomentProps {
  readonly name: 'from' | 'to'
  readonly at: string | undefined
  readonly change: (part: Change) => void
}

function Moment({ name, at, change }: MomentProps): ReactNode {
  const say = useSay()
  const [wall, setWall] = useState(at === undefined ? '' : wallTime(Date.parse(at), OWN_ZONE).slice(0, 16))
  const settle = (): void => {
    const moment = momentOf(wall, OWN_ZONE)
    change({ [name]: moment === null ? null : new Date(moment).toISOString() })
  }
  return (
    <TextInput
      {...{ type: 'datetime-local', value: wall, 'aria-label': say(`runs.time.${name}`), onBlur: settle }}
      leftSection={<span className="small">{say(`runs.time.${name}`)}</span>}
      leftSectionWidth={52}
      onChange={(event) => setWall(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') settle()
      }}
    />
  )
}
