import { ActionIcon, Menu } from '@mantine/core'
import { IconDots, IconPencil, IconTrash } from '@tabler/icons-react'
import { useState, type ReactNode } from 'react'
import type { PermissionName } from '../../src/features/access/schema.ts'
import { useAct } from '../api/use-act.ts'
import { Permitted } from '../parts/Permitted.tsx'
import { useSay } from '../texts/TextProvider.tsx'
import { Confirm } from './Confirm.tsx'

/** How a thing goes away, and what is said about it. */
interface Removal<Row> {
  readonly word: string
  readonly title: (row: Row) => string
  readonly text: string
  readonly act: (row: Row) => Promise<unknown>
  readonly done: (row: Row) => string
  readonly isPossible?: (row: Row) => boolean
}

export interface ThingMenuProps<Row> {
  readonly row: Row
  readonly idOf: (row: Row) => string
  readonly nameOf: (row: Row) => string
  /** What changing any of them needs. */
  readonly permission: PermissionName
  readonly operatorOnly?: boolean
  readonly show: (id: string) => void
  /** False where there is nothing to change about one. */
  readonly canEdit?: boolean
  readonly removal: Removal<Row>
  readonly touches: readonly (readonly string[])[]
  /** More that can be done with one. */
  readonly more?: (row: Row) => ReactNode
}

const ICON = { size: 15, 'aria-hidden': true } as const

/** What can be done with a thing of a list: change it, remove it, and what else its list knows. */
export function ThingMenu<Row>(props: ThingMenuProps<Row>): ReactNode {
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
