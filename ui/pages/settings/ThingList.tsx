import { ActionIcon, Button, Menu } from '@mantine/core'
import { IconDots, IconPencil, IconPlus, IconTrash } from '@tabler/icons-react'
import { useState, type ReactNode } from 'react'
import type { PermissionName } from '../../../src/contract/me.ts'
import { useAct } from '../../api/use-act.ts'
import { Confirm } from '../../forms/Confirm.tsx'
import { EmptyState } from '../../parts/EmptyState.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Permitted } from '../../parts/Permitted.tsx'
import type { Column } from '../../table/column.ts'
import { Listing } from '../../table/Listing.tsx'
import { useSay } from '../../texts/TextProvider.tsx'

/** How a thing goes away, and what is said about it. */
export interface Removal<Row> {
  readonly word: string
  readonly title: (row: Row) => string
  readonly text: string
  readonly act: (row: Row) => Promise<unknown>
  readonly done: (row: Row) => string
  readonly isPossible?: (row: Row) => boolean
}

interface ThingListProps<Row> {
  readonly title: string
  readonly list: { readonly isPending: boolean; readonly error: unknown; readonly refetch: () => unknown }
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly idOf: (row: Row) => string
  readonly nameOf: (row: Row) => string
  readonly empty: { readonly title: string; readonly text: string; readonly icon: ReactNode }
  /** What changing any of them needs. */
  readonly permission: PermissionName
  readonly operatorOnly?: boolean
  /** What the button that makes one says; left out where nobody makes any. */
  readonly create?: string
  readonly show: (id: string) => void
  /** False where there is nothing to change about one. */
  readonly canEdit?: boolean
  readonly removal: Removal<Row>
  readonly touches: readonly (readonly string[])[]
  /** More that can be done with one. */
  readonly more?: (row: Row) => ReactNode
  readonly hint?: string
}

/** A list of things that are made, changed and removed; every section of the settings is one. */
export function ThingList<Row>(props: ThingListProps<Row>): ReactNode {
  const { title, list, rows, columns, idOf, empty, permission, operatorOnly = false, create, show, hint } = props
  const say = useSay()
  const button =
    create === undefined ? null : (
      <Permitted permission={permission} operatorOnly={operatorOnly}>
        <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => show('new')}>
          {create}
        </Button>
      </Permitted>
    )
  const actions: Column<Row> = {
    ...{ id: 'actions', width: '34px', header: <span className="visually-hidden">{say('action.more')}</span> },
    cell: (row) => <Actions {...props} row={row} />,
  }
  return (
    <Panel className="things" title={title} aside={button}>
      {hint !== undefined && <p className="things-hint">{hint}</p>}
      <Listing
        {...{ list, rows, idOf, label: title, columns: [...columns, actions] }}
        keys={props.canEdit === false ? {} : { e: (row) => show(idOf(row)) }}
        empty={<EmptyState {...empty} />}
      />
    </Panel>
  )
}

const ICON = { size: 15, 'aria-hidden': true } as const

function Actions<Row>(props: ThingListProps<Row> & { readonly row: Row }): ReactNode {
  const { row, idOf, nameOf, permission, operatorOnly = false, show, canEdit = true, removal, touches, more } = props
  const say = useSay()
  const [isAsking, setAsking] = useState(false)
  const remove = useAct({
    act: () => removal.act(row),
    touches: [...touches, ['audit']],
    told: () => ({ tone: 'done', message: removal.done(row) }),
  })
  const name = nameOf(row)
  if (removal.isPossible?.(row) === false && !canEdit) return null
  return (
    <>
      <Menu>
        <Menu.Target>
          <ActionIcon aria-label={`${say('action.more')}: ${name}`}>
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {canEdit && (
            <Permitted {...{ permission, operatorOnly }}>
              <Menu.Item leftSection={<IconPencil {...ICON} />} onClick={() => show(idOf(row))}>
                {say('form.edit')}
              </Menu.Item>
            </Permitted>
          )}
          {more?.(row)}
          <Permitted {...{ permission, operatorOnly }}>
            <Menu.Item
              {...{ color: 'red', leftSection: <IconTrash {...ICON} />, onClick: () => setAsking(true) }}
              disabled={removal.isPossible?.(row) === false}
            >
              {removal.word}
            </Menu.Item>
          </Permitted>
        </Menu.Dropdown>
      </Menu>
      {isAsking && (
        <Confirm
          {...{ title: removal.title(row), text: removal.text, word: removal.word }}
          {...{ confirm: () => remove.run(undefined), cancel: () => setAsking(false) }}
        />
      )}
    </>
  )
}
