import { Modal, TextInput, useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import {
  IconBolt,
  IconCalendarTime,
  IconHelpCircle,
  IconKeyboard,
  IconListDetails,
  IconPlus,
  IconRobot,
  IconSearch,
  IconSunMoon,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useRouter } from '@tanstack/react-router'
import { useState, type KeyboardEvent, type ReactNode } from 'react'
import type { ScheduleView } from '../../src/features/schedules/schema.ts'
import { agentList, schedulePage } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { useRunNow } from '../api/run-now.ts'
import { useOpenEditor } from '../editor/hooks/use-editor.ts'
import type { PlainKey } from '../texts/fill.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { usePlaces } from './use-places.ts'

interface Choice {
  readonly id: string
  readonly group: PlainKey
  readonly label: string
  readonly icon: ReactNode
  readonly act: () => void
}

interface PaletteProps {
  readonly close: () => void
  readonly openHelp: () => void
}

const ICON = { size: 16, 'aria-hidden': true } as const

/** Go somewhere or do something, by typing a part of its name. */
export function Palette({ close, openHelp }: PaletteProps): ReactNode {
  const say = useSay()
  const [query, setQuery] = useState('')
  const [chosen, setChosen] = useState(0)
  const choices = useChoices(query, openHelp)
  const at = Math.min(chosen, Math.max(0, choices.length - 1))
  const take = (choice: Choice | undefined): void => {
    if (choice === undefined) return
    close()
    choice.act()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') take(choices[at])
    else if (event.key === 'ArrowDown') setChosen(Math.min(choices.length - 1, at + 1))
    else if (event.key === 'ArrowUp') setChosen(Math.max(0, at - 1))
    else return
    event.preventDefault()
  }
  const search = (text: string): void => {
    setQuery(text)
    setChosen(0)
  }
  return (
    <Modal
      {...{ opened: true, onClose: close, withCloseButton: false, padding: 0, size: 'lg', yOffset: '12vh' }}
      attributes={{ content: { 'aria-label': say('palette.title') } }}
    >
      <TextInput
        {...{
          value: query,
          onKeyDown,
          size: 'md',
          variant: 'unstyled',
          className: 'palette-input',
          'data-autofocus': true,
        }}
        onChange={(event) => search(event.currentTarget.value)}
        placeholder={say('palette.placeholder')}
        aria-label={say('palette.title')}
        leftSection={<IconSearch {...ICON} />}
        {...{ role: 'combobox', 'aria-expanded': true, 'aria-controls': 'palette-list' }}
        aria-activedescendant={choices[at] === undefined ? undefined : `palette-${choices[at].id}`}
      />
      <ChoiceList choices={choices} at={at} take={take} query={query} />
      <div className="palette-hint">{say('palette.hint')}</div>
    </Modal>
  )
}

interface ChoiceListProps {
  readonly choices: readonly Choice[]
  readonly at: number
  readonly take: (choice: Choice) => void
  readonly query: string
}

function ChoiceList({ choices, at, take, query }: ChoiceListProps): ReactNode {
  const say = useSay()
  if (choices.length === 0) return <p className="palette-none">{say('palette.nothing', { query })}</p>
  return (
    <ul className="palette-list" id="palette-list" role="listbox" aria-label={say('palette.title')}>
      {choices.map((choice, index) => (
        <li
          key={choice.id}
          id={`palette-${choice.id}`}
          role="option"
          aria-selected={index === at}
          onClick={() => take(choice)}
          ref={index === at ? (element) => element?.scrollIntoView({ block: 'nearest' }) : undefined}
        >
          {choice.icon}
          <span className="palette-label">{choice.label}</span>
          <span className="quiet">{say(choice.group)}</span>
        </li>
      ))}
    </ul>
  )
}

function useChoices(query: string, openHelp: () => void): readonly Choice[] {
  const say = useSay()
  const navigate = useNavigate()
  const schedules = useScheduleChoices(query)
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const wanted = query.trim().toLowerCase()
  const fits = ({ label }: Choice): boolean => label.toLowerCase().includes(wanted)
  const pages = usePlaces()
    .flatMap((group) => group.places)
    .map(({ path, label, icon: Icon }): Choice => ({
      ...{ id: `page-${path}`, group: 'palette.pages', label: say(label), icon: <Icon {...ICON} /> },
      act: () => void navigate({ to: path }),
    }))
  const other = colorScheme === 'dark' ? 'light' : 'dark'
  const commands: readonly Choice[] = [
    {
      ...{ id: 'theme', group: 'palette.commands', icon: <IconSunMoon {...ICON} /> },
      label: `${say('top.theme')}: ${say(`top.theme.${other}`)}`,
      act: () => setColorScheme(other),
    },
    {
      ...{ id: 'help', group: 'palette.commands', icon: <IconKeyboard {...ICON} /> },
      ...{ label: say('shortcuts.title'), act: openHelp },
    },
  ]
  const found = [...useRunChoice(query), ...schedules, ...useAgentChoices(query)]
  return [
    ...pages.filter(fits),
    ...found,
    ...useNewChoices().filter(fits),
    ...commands.filter(fits),
    ...useWhyChoice(query),
  ]
}

/** What can be created from anywhere. */
function useNewChoices(): readonly Choice[] {
  const say = useSay()
  const navigate = useNavigate()
  const openEditor = useOpenEditor()
  const icon = <IconPlus {...ICON} />
  const choices: readonly (Choice & { readonly isAllowed: boolean })[] = [
    {
      ...{ id: 'new-schedule', group: 'palette.commands', label: say('palette.newSchedule'), icon },
      ...{ isAllowed: useMay('schedules:write'), act: () => openEditor({ edit: 'new' }) },
    },
    {
      ...{ id: 'new-agent', group: 'palette.commands', label: say('palette.newAgent'), icon },
      ...{ isAllowed: useMay('agents:write'), act: () => void navigate({ to: '/agents', search: { agent: 'new' } }) },
    },
    {
      ...{ id: 'new-talk', group: 'palette.commands', label: say('palette.newConversation'), icon },
      ...{ isAllowed: useMay('sessions:write'), act: () => void navigate({ to: '/chat', search: { begin: true } }) },
    },
  ]
  return choices.filter(({ isAllowed }) => isAllowed)
}

/** The id of a run opens the run. */
function useRunChoice(query: string): readonly Choice[] {
  const navigate = useNavigate()
  const id = query.trim()
  if (!useMay('runs:read') || !/^(?:run|task)_\w+$/.test(id)) return []
  return [
    {
      ...{ id: 'run', group: 'palette.runs', label: id, icon: <IconListDetails {...ICON} /> },
      act: () => void navigate({ to: '/automation/runs/$id', params: { id }, search: {} }),
    },
  ]
}

/** Agents by name or id. */
function useAgentChoices(query: string): readonly Choice[] {
  const navigate = useNavigate()
  const wanted = query.trim().toLowerCase()
  const mayRead = useMay('agents:read')
  const { data } = useQuery({ ...agentList, enabled: mayRead && wanted !== '' })
  if (wanted === '' || data === undefined) return []
  return data.items
    .filter(({ id, name }) => `${name} ${id}`.toLowerCase().includes(wanted))
    .slice(0, MOST_FOUND)
    .map(({ id, name }) => ({
      ...{ id: `agent-${id}`, group: 'palette.agents', label: name, icon: <IconRobot {...ICON} /> },
      act: () => void navigate({ to: '/agents/$id', params: { id }, search: {} }),
    }))
}

/** What looks like an id or a time can be asked about. */
const ASKABLE = /^(?:[a-z]{3}_\w|\d{1,2}:\d{2}|\d{4}-\d{2}-\d{2}|agent:)/

function useWhyChoice(query: string): readonly Choice[] {
  const say = useSay()
  const navigate = useNavigate()
  const q = query.trim()
  if (!useMay('runs:read') || !ASKABLE.test(q)) return []
  return [
    {
      ...{ id: 'why', group: 'palette.commands', icon: <IconHelpCircle {...ICON} /> },
      label: say('explain.palette', { query: q }),
      act: () => void navigate({ to: '/automation/why', search: { q } }),
    },
  ]
}

const MOST_FOUND = 6
const TYPING_MS = 150

/** Schedules by name: to open, and to run with the permission for it. */
function useScheduleChoices(query: string): readonly Choice[] {
  const say = useSay()
  const navigate = useNavigate()
  const router = useRouter()
  const mayRun = useMay('schedules:run')
  const mayRead = useMay('schedules:read')
  const runNow = useRunNow()
  const [q] = useDebouncedValue(query.trim(), TYPING_MS)
  const { data } = useQuery({ ...schedulePage({ q, limit: MOST_FOUND, sort: 'name' }), enabled: mayRead && q !== '' })
  if (q === '' || data === undefined) return []
  const goTo = (schedule: ScheduleView): void => {
    const path = '/automation/schedules/$id'
    if (path in router.routesByPath) void router.navigate({ href: `/automation/schedules/${schedule.id}` })
    else void navigate({ to: '/automation/schedules', search: { q: schedule.name } })
  }
  return data.items.flatMap((schedule): readonly Choice[] => [
    {
      ...{ id: schedule.id, group: 'palette.schedules', label: schedule.name, icon: <IconCalendarTime {...ICON} /> },
      act: () => goTo(schedule),
    },
    ...(mayRun
      ? [
          {
            ...{ id: `run-${schedule.id}`, group: 'palette.commands' as const, icon: <IconBolt {...ICON} /> },
            label: say('palette.runNow', { name: schedule.name }),
            act: () => runNow(schedule),
          },
        ]
      : []),
  ])
}
