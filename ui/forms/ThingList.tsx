import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { ThingMenu, type ThingMenuProps } from './ThingMenu.tsx'
import { EmptyState } from '../parts/EmptyState.tsx'
import { Panel } from '../parts/Panel.tsx'
import { Permitted } from '../parts/Permitted.tsx'
import type { Column } from '../table/column.ts'
import { Listing } from '../table/Listing.tsx'
import { useSay } from '../texts/TextProvider.tsx'

interface ThingListProps<Row> extends Omit<ThingMenuProps<Row>, 'row'> {
  readonly title: string
  readonly list: { readonly isPending: boolean; readonly error: unknown; readonly refetch: () => unknown }
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly empty: { readonly title: string; readonly text: string; readonly icon: ReactNode }
  /** The label of the create button; left out if objects cannot be created here. */
  readonly create?: string
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
    cell: (row) => <ThingMenu {...props} row={row} />,
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
