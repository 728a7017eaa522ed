import type { AlertFilter, AlertView } from '../features/alerts/schema.ts'
import type { Page } from '../api/page.ts'
import { invalid } from '../api/refusals.ts'
import { ALERT_KINDS } from '../domain/alerts.ts'
import { parseWord } from '../domain/input.ts'
import { formatInstant } from '../domain/instant.ts'
import { explainWhy } from '../domain/reasons.ts'
import { listAlerts, type AlertRow } from '../features/alerts/store.ts'
import type { Caller } from './caller.ts'
import { pageOf, parseCursor, parseLimit } from '../platform/db/cursor.ts'
import { collectFlaws, textField } from '../domain/input-fields.ts'
import type { Ports } from './ports.ts'
import { momentOrNull } from './schedule-view.ts'

const STATUSES = ['open', 'cleared'] as const

/** A page of the org's alerts, newest first. */
export async function findAlerts(
  { database }: Pick<Ports, 'database'>,
  { orgId }: Caller,
  filter: AlertFilter = {},
): Promise<Page<AlertView>> {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const cursor = keep(parseCursor('cursor', filter.cursor))
  const status = filter.status === undefined ? null : keep(parseWord('status', filter.status, STATUSES))
  const kind = filter.kind === undefined ? null : keep(parseWord('kind', filter.kind, ALERT_KINDS))
  const subjectId =
    filter.subject_id === undefined ? null : keep(textField({ min: 1, max: 512 })('subject_id', filter.subject_id))
  if (flaws.length > 0) throw invalid(flaws)
  const after = cursor === null ? null : { createdAt: cursor.createdAt, id: cursor.key }
  const open = status === null ? null : status === 'open'
  const rows = await listAlerts(database, { orgId, open, kind, subjectId, after, limit: limit + 1 })
  return pageOf(rows, limit, { view: viewAlert, cursor: ({ raisedAt, id }) => ({ createdAt: raisedAt, key: id }) })
}

const viewAlert = (row: AlertRow): AlertView => ({
  id: row.id,
  org_id: row.orgId,
  kind: row.kind,
  subject_kind: row.subjectKind,
  subject_id: row.subjectId,
  status: row.clearedAt === null ? 'open' : 'cleared',
  why: row.why,
  sentence: explainWhy(row.why),
  raised_at: formatInstant(row.raisedAt),
  cleared_at: momentOrNull(row.clearedAt),
  cleared_why: row.clearedWhy,
})
