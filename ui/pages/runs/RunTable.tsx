import { useNavigate } from '@tanstack/react-router'
import { memo, useMemo, type ReactNode } from 'react'
import { isPending, useRetry } from '../../api/run-actions.ts'
import { useMay } from '../../api/session.ts'
import type { Column } from '../../table/column.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { useTableCursor } from '../../table/use-table-cursor.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { AgentCell, StateCell, UsedCell, WhatCell, WhenCell } from './cells.tsx'
import { RowActions } from './RowActions.tsx'
import { Took } from './one/Took.tsx'
import type { RunRow } from './run-row.ts'

interface RunTableProps {
  readonly rows: readonly RunRow[]
  readonly more: () => void
}

/** The table of runs, with keys. */
export function RunTable({ rows, more }: RunTableProps): ReactNode {
  const say = useSay()
  const navigate = useNavigate()
  const retry = useRetry()
  const [mayRun, mayWrite] = [useMay('schedules:run'), useMay('runs:write')]
  const cursor = useTableCursor(rows, {
    o: ({ id }) => void navigate({ to: '/automation/runs/$id', params: { id } }),
    r: (run) => {
      if (!isPending(run) && (run.schedule_id === null ? mayWrite : mayRun)) retry.mutate(run)
    },
  })
  const columns = useColumns()
  return (
    <DataTable {...{ columns, cursor, rows, label: say('runs.title'), onEnd: more }} idOf={({ id }: RunRow) => id} />
  )
}

// While one scrolls, rows come and go; what is in those that stay is not worked out again.
const cells = {
  StateCell: memo(StateCell),
  WhatCell: memo(WhatCell),
  AgentCell: memo(AgentCell),
  WhenCell: memo(WhenCell),
  Took: memo(Took),
  UsedCell: memo(UsedCell),
  RowActions: memo(RowActions),
} as const

function useColumns(): readonly Column<RunRow>[] {
  const say = useSay()
  return useMemo(
    () => [
      {
        ...{ id: 'state', width: '150px', header: say('runs.col.state') },
        cell: (run: RunRow) => <cells.StateCell run={run} />,
      },
      {
        ...{ id: 'what', width: 'minmax(240px, 3fr)', header: say('runs.col.what') },
        cell: (run: RunRow) => <cells.WhatCell run={run} />,
      },
      {
        ...{ id: 'agent', width: 'minmax(90px, 160px)', header: say('runs.col.agent') },
        cell: (run: RunRow) => <cells.AgentCell run={run} />,
      },
      {
        ...{ id: 'when', width: '130px', header: say('runs.col.when') },
        cell: (run: RunRow) => <cells.WhenCell run={run} />,
      },
      {
        ...{ id: 'took', width: '80px', header: say('runs.col.took') },
        cell: (run: RunRow) => <cells.Took run={run} />,
      },
      {
        ...{ id: 'used', width: '96px', header: say('runs.col.used') },
        cell: (run: RunRow) => <cells.UsedCell run={run} />,
      },
      {
        ...{ id: 'actions', width: '40px' },
        header: <span className="visually-hidden">{say('runs.col.actions')}</span>,
        cell: (run: RunRow) => <cells.RowActions run={run} />,
      },
    ],
    [say],
  )
}
