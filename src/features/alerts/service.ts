import type { Envelope } from '../../domain/delivery/email-message.ts'
import type { OrgId } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { because, explainWhy } from '../../domain/reasons.ts'
import {
  type AlertChange,
  type AlertMessage,
  clearAlerts,
  clearAlertRow,
  insertAlertMessages,
  insertAlerts,
  raiseAlertRow,
} from './store.ts'
import type { Database, Transaction } from '../../platform/db/database.ts'

/** Above this many changes at once, one message contains them all, so that targets are not flooded. */
const MAX_SINGLE_MESSAGES = 20

/** Saves raised and cleared alerts, and the messages about them to the org's alert targets. */
export function saveAlerts(
  tx: Transaction,
  orgId: OrgId,
  { changes, now }: { readonly changes: readonly AlertChange[]; readonly now: Instant },
): void {
  for (const group of groupByChange(changes))
    if (group[0]?.change === 'raised') insertAlerts(tx, orgId, { raised: group, now })
    else clearAlerts(tx, orgId, { cleared: group, now })
  insertAlertMessages(tx, orgId, { messages: messagesOf(orgId, changes, now), now, why: ALERTED })
}

/**
 * Groups consecutive changes of the same kind. The order matters: an alert that is raised, cleared and raised again in
 * one transaction ends open.
 */
function groupByChange(changes: readonly AlertChange[]): readonly (readonly AlertChange[])[] {
  const groups: AlertChange[][] = []
  for (const change of changes) {
    const last = groups.at(-1)
    if (last?.[0]?.change === change.change) last.push(change)
    else groups.push([change])
  }
  return groups
}

/**
 * Raises or clears one alert at once, without the lock of its org, because an alert about a stalled engine must not
 * wait for it. Returns whether anything changed; clients are notified by a transaction of its own.
 */
export function saveAlertImmediately(
  database: Database,
  orgId: OrgId,
  { change, now }: { readonly change: AlertChange; readonly now: Instant },
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const hasChanged =
      change.change === 'raised'
        ? await raiseAlertRow(tx, orgId, { raised: change, now })
        : await clearAlertRow(tx, orgId, { cleared: change, now })
    if (hasChanged) insertAlertMessages(tx, orgId, { messages: messagesOf(orgId, [change], now), now, why: ALERTED })
    return hasChanged
  })
}

const ALERTED = because('alerted', 'target.alerts')

/** The messages to send about alert changes. */
function messagesOf(orgId: OrgId, changes: readonly AlertChange[], now: Instant): readonly AlertMessage[] {
  const [first] = changes
  if (first === undefined) return []
  if (changes.length <= MAX_SINGLE_MESSAGES)
    return changes.map((change) => ({
      ...{ name: alertMessageName(change), alertId: change.id, subjectId: change.subjectId },
      body: JSON.stringify(alertEnvelope(orgId, change, now)),
    }))
  const items = changes.map((change) => alertEnvelope(orgId, change, now))
  const data = { until: formatInstant(now), count: items.length, items, left_out: 0 }
  const body = JSON.stringify({ type: 'digest', timestamp: formatInstant(now), data })
  return [{ name: `${alertMessageName(first)}_${changes.length}`, alertId: null, subjectId: '', body }]
}

const alertMessageName = ({ id, change }: AlertChange): string => `${id.replace(/^alr_/, '')}_${change.slice(0, 1)}`

function alertEnvelope(orgId: OrgId, alert: AlertChange, now: Instant): Envelope {
  const { id, kind, subjectKind, subjectId, change, why, about } = alert
  const at = formatInstant(now)
  const named = { id, org_id: orgId, kind, subject_kind: subjectKind, subject_id: subjectId }
  const data =
    change === 'raised'
      ? { ...named, status: 'open', why, sentence: explainWhy(why), raised_at: at, cleared_at: null }
      : { ...named, status: 'cleared', cleared_at: at, cleared_why: why, cleared_sentence: explainWhy(why) }
  return { type: `alert.${change}`, timestamp: at, data, about }
}
