import type { AlertFilter, AlertKind, AlertView } from '../contract/alert.ts'
import type { Page } from '../contract/page.ts'
import { invalid } from '../contract/refusals.ts'
import { parseWord } from '../core/input.ts'
import { formatInstant } from '../core/instant.ts'
import { explainWhy } from '../core/reasons.ts'
import { listAlerts, type AlertRow } from '../store/alerts.ts'
import type { Caller } from './caller.ts'
import { pageOf, parseCursor, parseLimit } from './cursor.ts'
import type { Desk } from './desk/desk.ts'
import { collectFlaws } from './input-fields.ts'
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
  if (flaws.length > 0) throw invalid(flaws)
  const after = cursor === null ? null : { createdAt: cursor.createdAt, id: cursor.key }
  const open = status === null ? null : status === 'open'
  const rows = await listAlerts(database, { orgId, open, after, limit: limit + 1 })
  return pageOf(rows, limit, { view: viewAlert, cursor: ({ raisedAt, id }) => ({ createdAt: raisedAt, key: id }) })
}

const viewAlert = (row: AlertRow): AlertView => ({
  id: row.id,
  org_id: row.orgId,
  kind: row.kind as AlertKind,
  subject_kind: row.subjectKind as AlertView['subject_kind'],
  subject_id: row.subjectId,
  status: row.clearedAt === null ? 'open' : 'cleared',
  why: row.why,
  sentence: explainWhy(row.why),
  raised_at: formatInstant(row.raisedAt),
  cleared_at: momentOrNull(row.clearedAt),
  cleared_why: row.clearedWhy,
})

/** Which alert, and what it is about. */
export interface ToldAlert {
  readonly id: string
  readonly kind: AlertKind
  readonly subjectId: string
}

/** Tells everybody who watches that an alert was raised. */
export function tellRaised(desk: Desk, alert: ToldAlert): void {
  desk.changes.events.push({ kind: 'alert.raised', subject: alert.id, data: dataOf(alert) })
}

/** Tells everybody who watches that an alert is over. */
export function tellCleared(desk: Desk, alert: ToldAlert): void {
  desk.changes.events.push({ kind: 'alert.cleared', subject: alert.id, data: dataOf(alert) })
}

const dataOf = ({ kind, subjectId }: ToldAlert): Readonly<Record<string, unknown>> => ({
  ...{ kind, subject_kind: 'target', subject_id: subjectId },
})
