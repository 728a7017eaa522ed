import type { LineageNode, LineageView } from '../../contract/lineage.ts'
import type { PageFilter } from '../../api/common.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { runId } from '../../domain/ids.ts'
import { formatInstant } from '../../domain/instant.ts'
import { confinedTo } from '../../core/rails/railed.ts'
import { type LineageRow, loadBelow, loadRunsAbove } from '../../features/access/restrictions-store.ts'
import { loadRun } from '../../store/run-reads.ts'
import type { Caller } from '../caller.ts'
import { pageOf, parseCursor, parseLimit } from '../../platform/db/cursor.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import type { Ports } from '../ports.ts'

/** Messages may name any run as the one above them, so chains can be longer than rails allow; more are not walked. */
const MOST_ABOVE = 50

interface AskedLineage extends Pick<Caller, 'orgId' | 'railed'> {
  readonly id: string
  /** For readers of schedules who may not read other runs. */
  readonly onlyOfSchedules?: boolean
}

/** Where a run comes from, and what it made and woke. Whoever sees nothing but their own sees nothing else here either. */
export async function readLineage(
  { database }: Pick<Ports, 'database'>,
  { orgId, railed, id, onlyOfSchedules = false }: AskedLineage,
  filter: PageFilter = {},
): Promise<LineageView> {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const cursor = keep(parseCursor('cursor', filter.cursor))
  if (flaws.length > 0) throw invalid(flaws)
  const run = id.includes('\u0000') ? undefined : await loadRun(database, { orgId, id: runId(id) })
  const [self, ...above] =
    run === undefined ? [] : await loadRunsAbove(database, { orgId, id: run.id, most: MOST_ABOVE })
  if (run === undefined || self === undefined) throw new Refusal('NOT_FOUND', `There is no run ${id}`)
  const owner = confinedTo(railed)
  const after = cursor === null ? null : { createdAt: cursor.createdAt, id: cursor.key }
  const below = await loadBelow(database, { orgId, id: run.id, owner, after, limit: limit + 1 })
  const page = pageOf(below, limit, { view: viewNode, cursor: ({ createdAt, id: key }) => ({ createdAt, key }) })
  const isShown = ({ kind, schedule_id: schedule }: LineageNode): boolean =>
    !onlyOfSchedules || kind === 'schedule' || schedule !== null
  const seen = above.filter((row) => owner === null || row.owner === owner || row.id === railed?.attempt?.runId)
  return {
    run_id: run.id,
    root_run_id: run.lineage?.root ?? above.at(-1)?.id ?? run.parentRunId ?? run.id,
    depth: run.lineage?.depth ?? (above.length > 0 ? above.length : run.parentRunId === null ? 0 : 1),
    ancestors: seen.toReversed().map(viewNode).filter(isShown),
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
