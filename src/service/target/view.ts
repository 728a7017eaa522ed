import type { TargetView } from '../../features/targets/schema.ts'
import { shownSettings, shownUrl } from '../../core/delivery/target-kinds.ts'
import { formatInstant } from '../../domain/instant.ts'
import type { TargetRow } from '../../store/targets.ts'
import { momentOrNull } from '../schedule-view.ts'

/** A target as every surface shows it. */
export const viewTarget = (row: TargetRow, held: number): TargetView => ({
  id: row.id,
  org_id: row.orgId,
  name: row.name,
  kind: row.kind,
  url: row.url === '' ? null : shownUrl(row.kind, row.url),
  settings: shownSettings(row.kind, row.settings),
  quiet_hours: row.quietHours,
  alerts: row.alerts,
  enabled: row.disabledAt === null,
  disabled_at: momentOrNull(row.disabledAt),
  disabled_why: row.disabledWhy,
  failures_in_a_row: row.failuresInARow,
  held,
  last_delivered_at: momentOrNull(row.deliveredAt),
  last_failed_at: momentOrNull(row.failedAt),
  created_by: row.createdBy,
  created_at: formatInstant(row.createdAt),
  updated_at: formatInstant(row.updatedAt),
})

/** What a person has decided about a target, for the audit log. */
export const settingsOf = ({ name, kind, url, disabledAt, settings, quietHours, alerts }: TargetRow): object => ({
  ...{ name, kind, ...(url === '' ? {} : { url: withoutQuery(shownUrl(kind, url)) }), enabled: disabledAt === null },
  ...(Object.keys(settings).length === 0 ? {} : { settings: shownSettings(kind, settings) }),
  ...{ quiet_hours: quietHours, alerts },
})

/** Keys are often part of a query, and what is audited is kept for ever. */
function withoutQuery(url: string): string {
  const at = url.indexOf('?')
  return at === -1 ? url : `${url.slice(0, at)}?***`
}
