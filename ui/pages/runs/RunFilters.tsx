import { Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState, type ReactNode } from 'react'
import { agentList } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { useShortcuts } from '../../shell/shortcuts.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { QUIET } from '../../forms/quiet.ts'
import { STATUS_GROUPS, STATUSES, TRIGGERS, type Change, type RunSearch } from './run-search.ts'
import { ScheduleFilter } from '../../forms/ScheduleFilter.tsx'
import { TimeFilter } from './TimeFilter.tsx'

const TYPING_MS = 300

/** What narrows the list down; all of it is in the address. */
export function RunFilters({ search }: { readonly search: RunSearch }): ReactNode {
  const say = useSay()
  const field = useRef<HTMLInputElement>(null)
  const navigate = useNavigate({ from: '/automation/runs' })
  const agents = useQuery({ ...agentList, enabled: useMay('agents:read') }).data?.items ?? []
  const change = (part: Change): void => {
    const next = Object.entries({ ...search, ...part }).filter(([, value]) => value !== null && value !== '')
    void navigate({ search: Object.fromEntries(next) as RunSearch, replace: true })
  }
  useShortcuts({ '/': () => field.current?.focus() })
  return (
    <div className="run-filters" role="search">
      <StatusFilter status={search.status} change={change} />
      <Select
        {...{ ...QUIET, value: search.trigger ?? null, 'aria-label': say('runs.trigger') }}
        onChange={(trigger) => change({ trigger })}
        placeholder={say('runs.trigger.all')}
        data={TRIGGERS.map((value) => ({ value, label: say(`trigger.${value}`) }))}
      />
      <Select
        {...{ ...QUIET, value: search.agent_id ?? null, searchable: true, 'aria-label': say('runs.agent') }}
        onChange={(agentId) => change({ agent_id: agentId })}
        placeholder={say('runs.agent.all')}
        data={choices(agents, search.agent_id)}
      />
      <ScheduleFilter chosen={search.schedule_id} choose={(id) => change({ schedule_id: id })} />
      <TextFilter key={search.session ?? ''} {...{ field, name: 'session', search, change }} />
      <TextFilter key={`code ${search.agent_error_code ?? ''}`} {...{ name: 'agent_error_code', search, change }} />
      <TimeFilter search={search} change={change} />
    </div>
  )
}

/** The agents to choose from, and the chosen one though it may be none of them: tasks name whom they like. */
function choices(agents: readonly { readonly id: string; readonly name: string }[], chosen: string | undefined) {
  const known = agents.map(({ id, name }) => ({ value: id, label: name }))
  return chosen === undefined || agents.some(({ id }) => id === chosen)
    ? known
    : [...known, { value: chosen, label: chosen }]
}

interface Choice {
  readonly value: string
  readonly label: string
}

interface StatusFilterProps {
  readonly status: string | undefined
  readonly change: (part: Change) => void
}

function StatusFilter({ status, change }: StatusFilterProps): ReactNode {
  const say = useSay()
  const groups: Choice[] = (['pending', 'well', 'ill', 'not'] as const).map((name) => ({
    ...{ value: STATUS_GROUPS[name], label: say(`runs.status.${name}`) },
  }))
  const taken = new Set(groups.map(({ value }) => value))
  const exact: readonly Choice[] = STATUSES.map((value) => ({ value, label: say(`status.${value}`) }))
  const all = [...groups, ...exact]
  if (status !== undefined && !all.some(({ value }) => value === status)) {
    const names = STATUSES.filter((one) => status.split(',').includes(one)).map((one) => say(`status.${one}`))
    groups.push({ value: status, label: names.join(', ') })
  }
  return (
    <Select
      {...{ ...QUIET, value: status ?? null, 'aria-label': say('runs.status'), maxDropdownHeight: 420 }}
      onChange={(chosen) => change({ status: chosen })}
      placeholder={say('runs.status.all')}
      data={[
        { group: say('runs.status.groups'), items: groups },
        { group: say('runs.status.exact'), items: exact.filter(({ value }) => !taken.has(value)) },
      ]}
    />
  )
}

interface TextFilterProps {
  readonly field?: React.RefObject<HTMLInputElement | null>
  readonly name: 'session' | 'agent_error_code'
  readonly search: RunSearch
  readonly change: (part: Change) => void
}

/** Part of the filter that one types. */
function TextFilter({ field, name, search, change }: TextFilterProps): ReactNode {
  const say = useSay()
  const [text, setText] = useState(search[name] ?? '')
  const later = useDebouncedCallback((typed: string) => change({ [name]: typed.trim() }), TYPING_MS)
  const type = (typed: string): void => {
    setText(typed)
    later(typed)
  }
  return (
    <TextInput
      {...(field === undefined ? {} : { ref: field })}
      {...{ value: text, type: 'search', placeholder: say(`runs.${name}.any`), 'aria-label': say(`runs.${name}`) }}
      onChange={(event) => type(event.currentTarget.value)}
    />
  )
}
