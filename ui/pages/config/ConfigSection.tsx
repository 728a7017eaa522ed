import { ActionIcon, TextInput } from '@mantine/core'
import { IconAdjustments, IconPencil } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState, type ReactNode } from 'react'
import { configView } from '../../api/admin-queries.ts'
import { api } from '../../api/client.ts'
import type { FieldSpec } from '../../forms/field.ts'
import { FormDrawer } from '../../forms/FormDrawer.tsx'
import { EmptyState } from '../../parts/EmptyState.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Permitted } from '../../parts/Permitted.tsx'
import type { Column } from '../../table/column.ts'
import { Listing } from '../../table/Listing.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { useOpen } from '../../forms/use-open.ts'

type ConfigView = NonNullable<Awaited<ReturnType<typeof api.config.get>>>
/** A setting with its name. */
type Setting = ConfigView['values'][string] & { readonly path: string }

const FIELDS: readonly FieldSpec[] = [
  { path: 'value', label: 'config.value', kind: 'json', hint: 'config.valueHint', whenEmpty: 'null' },
]

/** Every setting as it holds, and who said so; what takes effect at once can be changed. */
export function ConfigSection(): ReactNode {
  const say = useSay()
  const list = useQuery(configView)
  const { open, show } = useOpen()
  const [looked, setLooked] = useState('')
  const rows = useMemo(
    () =>
      Object.entries(list.data?.values ?? {})
        .map(([path, value]): Setting => ({ path, ...value }))
        .filter(({ path }) => path.includes(looked.trim().toLowerCase())),
    [list.data, looked],
  )
  const edited = rows.find(({ path }) => path === open)
  return (
    <>
      <Panel
        {...{ className: 'things', title: say('settings.config') }}
        aside={
          <TextInput
            {...{ value: looked, 'aria-label': say('config.search'), placeholder: say('config.search') }}
            onChange={(event) => setLooked(event.currentTarget.value)}
          />
        }
      >
        <p className="things-hint">
          {list.data?.file == null ? say('config.noFile') : say('config.file', { file: list.data.file })}
        </p>
        <Listing<Setting>
          {...{ list, rows, label: say('settings.config'), columns: useColumns(show), idOf: ({ path }) => path }}
          keys={{ e: ({ path, hot }) => (hot ? show(path) : undefined) }}
          empty={
            <EmptyState
              icon={<IconAdjustments size={22} aria-hidden />}
              title={say('config.none.title')}
              text={say('config.none.text')}
            />
          }
        />
      </Panel>
      {edited !== undefined && edited.hot && (
        <FormDrawer
          {...{ key: edited.path, title: edited.path, fields: () => FIELDS, thing: edited, close: () => show(null) }}
          {...{ lead: say('config.lead'), saved: say('config.saved', { path: edited.path }) }}
          touches={[['config'], ['lanes'], ['stats'], ['audit']]}
          save={({ value }) => api.config.update(nested(edited.path, value ?? null))}
        />
      )}
    </>
  )
}

/** `a.b.c` with a value as the server wants it. Names of lanes have no dots. */
const nested = (path: string, value: unknown): Readonly<Record<string, unknown>> =>
  path
    .split('.')
    .reverse()
    .reduce<unknown>((inner, name) => ({ [name]: inner }), value) as Readonly<Record<string, unknown>>

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function useColumns(show: (path: string) => void): readonly Column<Setting>[] {
  const say = useSay()
  return [
    {
      ...{ id: 'path', width: 'minmax(180px, 1.4fr)', header: say('config.setting') },
      cell: ({ path }) => <code className="config-path">{path}</code>,
    },
    {
      ...{ id: 'value', width: 'minmax(120px, 1.4fr)', header: say('config.value') },
      cell: (setting) => <ValueCell setting={setting} />,
    },
    {
      ...{ id: 'source', width: '120px', header: say('config.source') },
      cell: ({ source }) => (
        <span className={source === 'default' ? 'quiet' : 'thing-name'}>{say(`config.source.${source}`)}</span>
      ),
    },
    {
      ...{ id: 'hot', width: '150px', header: say('config.takesEffect') },
      cell: ({ hot }) => <span className="quiet small">{say(hot ? 'config.hot' : 'config.cold')}</span>,
    },
    {
      ...{ id: 'actions', width: '34px', header: <span className="visually-hidden">{say('form.edit')}</span> },
      cell: ({ path, hot }) =>
        hot && (
          <Permitted permission="admin:*" operatorOnly>
            <ActionIcon aria-label={`${say('form.edit')}: ${path}`} onClick={() => show(path)}>
              <IconPencil size={15} aria-hidden />
            </ActionIcon>
          </Permitted>
        ),
    },
  ]
}

function ValueCell({ setting }: { readonly setting: Setting }): ReactNode {
  const say = useSay()
  const { value, default: usual, after_restart: later } = setting
  const isUsual = JSON.stringify(value) === JSON.stringify(usual)
  return (
    <div>
      <code className="config-value">{value === null || value === undefined ? say('none') : textOf(value)}</code>
      {!isUsual && usual !== undefined && (
        <div className="quiet small">
          {say('config.usual', { value: usual === null ? say('none') : textOf(usual) })}
        </div>
      )}
      {later !== undefined && <div className="late-text small">{say('config.later', { value: textOf(later) })}</div>}
    </div>
  )
}
