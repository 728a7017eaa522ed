import { Checkbox, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState, type ReactNode } from 'react'
import { agentList } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { useShortcuts } from '../../shell/shortcuts.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { SORTS, STATES, type ScheduleSearch } from './schedule-search.ts'

const TYPING_MS = 200
type Change = Readonly<Record<'q' | 'state' | 'agent_id' | 'sort', string | null>> & { readonly failing: true | null }

/** What narrows the list down; all of it is in the address. */
export function Filters({ search }: { readonly search: ScheduleSearch }): ReactNode {
  const say = useSay()
  const field = useRef<HTMLInputElement>(null)
  const navigate = useNavigate({ from: '/automation/schedules' })
  const agents = useQuery({ ...agentList, enabled: useMay('agents:read') }).data?.items ?? []
  const change = (part: Partial<Change>): void => {
    const next = Object.entries({ ...search, ...part }).filter(([, value]) => value !== null && value !== '')
    void navigate({ search: Object.fromEntries(next) as ScheduleSearch, replace: true })
  }
  useShortcuts({ '/': () => field.current?.focus() })
  const quiet = { comboboxProps: { width: 'max-content' }, allowDeselect: true, clearable: true } as const
  return (
    <div className="filters" role="search">
      <SearchField key={search.q ?? ''} ref={field} given={search.q ?? ''} change={(q) => change({ q })} />
      <Select
        {...quiet}
        {...{
          value: search.state ?? null,
          onChange: (state) => change({ state }),
          'aria-label': say('schedules.state'),
        }}
        placeholder={say('schedules.allStates')}
        data={STATES.map((value) => ({ value, label: say(`state.${value}`) }))}
      />
      <Select
        {...quiet}
        {...{ value: search.agent_id ?? null, searchable: true, 'aria-label': say('schedules.agent') }}
        onChange={(agentId) => change({ agent_id: agentId })}
        placeholder={say('schedules.allAgents')}
        data={agents.map(({ id, name }) => ({ value: id, label: name }))}
      />
      <Checkbox
        {...{ checked: search.failing === true, size: 'xs', label: say('schedules.failing') }}
        onChange={(event) => change({ failing: event.currentTarget.checked ? true : null })}
      />
      <Select
        {...{ value: search.sort ?? '-created_at', allowDeselect: false, 'aria-label': say('schedules.sort') }}
        onChange={(sort) => change({ sort: sort === '-created_at' ? null : sort })}
        data={SORTS.map((value) => ({ value, label: say(`schedules.sort.${value}`) }))}
      />
    </div>
  )
}

interface SearchFieldProps {
  readonly ref: React.RefObject<HTMLInputElement | null>
  readonly given: string
  readonly change: (q: string) => void
}

function SearchField({ ref, given, change }: SearchFieldProps): ReactNode {
  const say = useSay()
  const [text, setText] = useState(given)
  const later = useDebouncedCallback(change, TYPING_MS)
  const type = (typed: string): void => {
    setText(typed)
    later(typed)
  }
  return (
    <TextInput
      {...{ ref, value: text, className: 'filters-search', type: 'search' }}
      onChange={(event) => type(event.currentTarget.value)}
      placeholder={say('schedules.search')}
      aria-label={say('schedules.search')}
      leftSection={<IconSearch size={14} aria-hidden />}
    />
  )
}
