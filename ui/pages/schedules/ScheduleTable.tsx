import { Checkbox } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ScheduleView } from '../../../src/features/schedules/schema.ts'
import { useRunNow } from '../../api/run-now.ts'
import { useMay } from '../../api/session.ts'
import { useOpenEditor } from '../../editor/hooks/use-editor.ts'
import type { Column } from '../../table/column.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { useSelection, type Selection } from '../../table/use-selection.ts'
import { useTableCursor } from '../../table/use-table-cursor.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { AgentCell, LastCell, NameCell, NextCell, StreakCell } from './cells.tsx'
import { RowActions } from './RowActions.tsx'
import { SelectionBar } from './SelectionBar.tsx'

interface ScheduleTableProps {
  readonly schedules: readonly ScheduleView[]
  readonly more: () => void
}

/** The table of schedules, with keys and a selection. */
export function ScheduleTable({ schedules, more }: ScheduleTableProps): ReactNode {
  const say = useSay()
  const ids = schedules.map(({ id }) => id)
  const selection = useSelection(ids)
  const runNow = useRunNow()
  const mayRun = useMay('schedules:run')
  const mayWrite = useMay('schedules:write')
  const openEditor = useOpenEditor()
  const cursor = useTableCursor(schedules, {
    x: ({ id }) => selection.toggle(id),
    ...(mayRun ? { r: runNow } : {}),
    ...(mayWrite ? { e: ({ id }) => openEditor({ edit: id }) } : {}),
  })
  const columns = useColumns(selection, ids)
  const selected = schedules.filter(({ id }) => selection.ids.has(id))
  return (
    <>
      <DataTable
        {...{ columns, cursor, rows: schedules, label: say('schedules.title'), onEnd: more }}
        idOf={({ id }) => id}
        isSelected={({ id }) => selection.ids.has(id)}
      />
      {selected.length > 0 && <SelectionBar selected={selected} clear={selection.clear} />}
    </>
  )
}

function useColumns(selection: Selection, ids: readonly string[]): readonly Column<ScheduleView>[] {
  const say = useSay()
  const isAll = ids.length > 0 && ids.every((id) => selection.ids.has(id))
  // Nothing can be done with a selection by those who may only look.
  const mayAct = useMay('schedules:write')
  const select: Column<ScheduleView> = {
    ...{ id: 'select', width: '20px' },
    header: (
      <Checkbox
        {...{
          checked: isAll,
          indeterminate: selection.ids.size > 0 && !isAll,
          'aria-label': say('schedules.selectAll'),
        }}
        onChange={() => selection.toggleAll(ids)}
      />
    ),
    cell: ({ id, name }) => (
      <Checkbox
        {...{ checked: selection.ids.has(id), 'aria-label': say('schedules.select', { name }) }}
        onChange={() => selection.toggle(id)}
      />
    ),
  }
  return [
    ...(mayAct ? [select] : []),
    {
      ...{ id: 'name', width: 'minmax(220px, 3fr)', header: say('schedules.col.name') },
      cell: (schedule) => <NameCell schedule={schedule} />,
    },
    {
      ...{ id: 'next', width: 'minmax(110px, 1fr)', header: say('schedules.col.next') },
      ...{ cardLabel: say('schedules.col.next'), cell: (schedule) => <NextCell schedule={schedule} /> },
    },
    {
      ...{ id: 'last', width: '124px', header: say('schedules.col.last') },
      cell: (schedule) => <LastCell schedule={schedule} />,
    },
    {
      ...{ id: 'streak', width: 'minmax(80px, 110px)', header: say('schedules.col.streak') },
      cell: (schedule) => <StreakCell schedule={schedule} />,
    },
    {
      ...{ id: 'agent', width: 'minmax(80px, 140px)', header: say('schedules.col.agent') },
      cell: (schedule) => <AgentCell schedule={schedule} />,
    },
    {
      ...{ id: 'actions', width: '68px', cell: (schedule) => <RowActions schedule={schedule} /> },
      header: <span className="visually-hidden">{say('schedules.col.actions')}</span>,
    },
  ]
}
