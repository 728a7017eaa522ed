import type { LineageNode, LineageView } from './restrictions-schema.ts'
import type { PageFilter } from '../../api/common.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { runId } from '../../domain/ids.ts'
import { formatInstant } from '../../domain/instant.ts'
import { visibleOwner } from '../../domain/access/restrictions.ts'
import { type LineageRow, loadRunChildren, loadRunWithAncestors } from './restrictions-store.ts'
import { loadRun } from '../runs/read-store.ts'
import type { Caller } from './caller.ts'
import { pageOf, parseCursor, parseLimit } from '../../platform/db/cursor.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import type { Ports } from '../../engine/ports.ts'

/**
 * A message may name any run as its parent, so a chain can be longer than the restrictions allow; longer chains are not
 * read.
 */
const MAX_ANCESTORS = 50

interface LineageQuery extends Pick<Caller, 'orgId' | 'restricted'> {
  readonly id: string
  /** For callers that may read schedules but not other runs. */
  readonly onlyOfSchedules?: boolean
}

/** The ancestors and children of a run. A caller confined to its own objects sees only those. */
export async function readLineage(
  { database }: Pick<Ports, 'database'>,
  { orgId, restricted, id, onlyOfSchedules = false }: LineageQuery,
  filter: PageFilter = {},
): Promise<LineageView> {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const cursor = keep(parseCursor('cursor', filter.cursor))
  if (flaws.length > 0) throw invalid(flaws)
  const run = id.includes('\u0000') ? undefined : await loadRun(database, { orgId, id: runId(id) })
  const [self, ...ancestors] =
    run === undefined ? [] : await loadRunWithAncestors(database, { orgId, id: run.id, most: MAX_ANCESTORS })
  if (run === undefined || self === undefined) throw new Refusal('NOT_FOUND', `There is no run ${id}`)
  const owner = visibleOwner(restricted)
  const after = cursor === null ? null : { createdAt: cursor.createdAt, id: cursor.key }
  const children = await loadRunChildren(database, { orgId, id: run.id, owner, after, limit: limit + 1 })
  const page = pageOf(children, limit, { view: viewNode, cursor: ({ createdAt, id: key }) => ({ createdAt, key }) })
  const isShown = ({ kind, schedule_id: schedule }: LineageNode): boolean =>
    !onlyOfSchedules || kind === 'schedule' || schedule !== null
  const visible = ancestors.filter(
    (row) => owner === null || row.owner === owner || row.id === restricted?.attempt?.runId,
  )
  return {
    run_id: run.id,
    root_run_id: run.lineage?.root ?? ancestors.at(-1)?.id ?? run.parentRunId ?? run.id,
    depth: run.lineage?.depth ?? (ancestors.length > 0 ? ancestors.length : run.parentRunId === null ? 0 : 1),
    ancestors: visible.toReversed().map(viewNode).filter(isShown),
    self: viewNode(self),
    children: page.items.filter(isShown),
    next_cursor: page.next_cursor,
  }
}

const viewNode = (row: LineageRow): LineageNode => ({
  kind: row.kind,
  id: row.id,
  parent_run_id: row.parentRunId,
  agent_id: row.agentId,
  schedule_id: row.scheduleId,
  name: row.name,
  status: row.state as LineageNode['status'],
  trigger: row.trigger as LineageNode['trigger'],
  created_at: formatInstant(row.createdAt),
})
