import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { useScheduleName } from '../api/names.ts'
import { schedulePage } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { QUIET } from './quiet.ts'

const TYPING_MS = 200
const MOST = 30

interface ScheduleFilterProps {
  readonly chosen: string | undefined
  /** Null: none of them. */
  readonly choose: (id: string | null) => void
  /** Above the field; without it, the field has only a name for those who do not see it. */
  readonly label?: string
}

/** Chooses a schedule; there may be thousands, so the server searches. */
export function ScheduleFilter({ chosen, choose, label }: ScheduleFilterProps): ReactNode {
  const say = useSay()
  const [typed, setTyped] = useState('')
  const [q] = useDebouncedValue(typed.trim(), TYPING_MS)
  const name = useScheduleName(chosen ?? null)
  const own = chosen === undefined ? undefined : (name ?? chosen)
  const filter = { limit: MOST, ...(q === '' || q === own ? {} : { q }) }
  const { data } = useQuery({ ...schedulePage(filter), enabled: useMay('schedules:read') })
  const found = (data?.items ?? []).map((one) => ({ value: one.id, label: one.name }))
  const isFound = chosen === undefined || found.some(({ value }) => value === chosen)
  return (
    <Select
      {...{ ...QUIET, value: chosen ?? null, searchable: true }}
      {...(label === undefined ? { 'aria-label': say('runs.schedule') } : { label })}
      onChange={choose}
      onSearchChange={setTyped}
      filter={({ options }) => options}
      placeholder={say('runs.schedule.all')}
      nothingFoundMessage={say('runs.schedule.none')}
      data={isFound ? found : [{ value: chosen, label: own ?? chosen }, ...found]}
    />
  )
}
