import type { Envelope } from '../core/delivery/letter.ts'
import type { OrgId } from '../domain/ids.ts'
import { formatInstant, type Instant } from '../domain/instant.ts'
import { because, explainWhy } from '../domain/reasons.ts'
import {
  clearAlerts,
  clearOne,
  insertAlertMessages,
  insertAlerts,
  raiseOne,
  type AlertChange,
  type AlertMessage,
} from '../features/alerts/store.ts'
import type { Database, Transaction } from '../store/database.ts'

/** More than this at once are told in one message: whoever is told of hundreds, one by one, reads none. */
const MOST_SINGLE = 20

/** Puts on record what was raised and cleared, and what is sent about it to the org's targets of alerts. */
export function saveAlerts(
  tx: Transaction,
  orgId: OrgId,
  { changes, now }: { readonly changes: readonly AlertChange[]; readonly now: Instant },
): void {
  for (const stretch of stretchesOf(changes))
    if (stretch[0]?.change === 'raised') insertAlerts(tx, orgId, { raised: stretch, now })
    else clearAlerts(tx, orgId, { cleared: stretch, now })
  insertAlertMessages(tx, orgId, { messages: messagesOf(orgId, changes, now), now, why: ALERTED })
}

/** In order: what was raised, cleared and raised again in one turn ends open. */
function stretchesOf(changes: readonly AlertChange[]): readonly (readonly AlertChange[])[] {
  const stretches: AlertChange[][] = []
  for (const change of changes) {
    const last = stretches.at(-1)
    if (last?.[0]?.change === change.change) last.push(change)
    else stretches.push([change])
  }
  return stretches
}

/**
 * Raises or clears one alert at once, without the lock of its org: whoever tells that the engine stands still must not
 * wait for it. Answers with whether anything has changed; who watches is told by a turn of its own.
 */
export function saveAlertAtOnce(
  database: Database,
  orgId: OrgId,
  { change, now }: { readonly change: AlertChange; readonly now: Instant },
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const isNews =
      change.change === 'raised'
        ? await raiseOne(tx, orgId, { raised: change, now })
        : await clearOne(tx, orgId, { cleared: change, now })
    if (isNews) insertAlertMessages(tx, orgId, { messages: messagesOf(orgId, [change], now), now, why: ALERTED })
    return isNews
  })
}

const ALERTED = because('alerted', 'target.alerts')

/** What is sent about alerts. */
function messagesOf(orgId: OrgId, changes: readonly AlertChange[], now: Instant): readonly AlertMessage[] {
  const [first] = changes
  if (first === undefined) return []
  if (changes.length <= MOST_SINGLE)
    return changes.map((change) => ({
      ...{ name: nameOf(change), alertId: change.id, subjectId: change.subjectId },
      body: JSON.stringify(envelopeOf(orgId, change, now)),
    }))
  const items = changes.map((change) => envelopeOf(orgId, change, now))
  const data = { until: formatInstant(now), count: items.length, items, left_out: 0 }
  const body = JSON.stringify({ type: 'digest', timestamp: formatInstant(now), data })
  return [{ name: `${nameOf(first)}_${changes.length}`, alertId: null, subjectId: '', body }]
}

const nameOf = ({ id, change }: AlertChange): string => `${id.replace(/^alr_/, '')}_${change.slice(0, 1)}`

function envelopeOf(orgId: OrgId, alert: AlertChange, now: Instant): Envelope {
  const { id, kind, subjectKind, subjectId, change, why, about } = alert
  const at = formatInstant(now)
  const named = { id, org_id: orgId, kind, subject_kind: subjectKind, subject_id: subjectId }
  const data =
    change === 'raised'
      ? { ...named, status: 'open', why, sentence: explainWhy(why), raised_at: at, cleared_at: null }
      : { ...named, status: 'cleared', cleared_at: at, cleared_why: why, cleared_sentence: explainWhy(why) }
  return { type: `alert.${change}`, timestamp: at, data, about }
}
