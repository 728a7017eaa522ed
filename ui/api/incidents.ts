import type { AlertView } from '../../src/features/alerts/schema.ts'

/** Open alerts with one cause. */
export interface Incident {
  /** The cause: what has to be looked at. */
  readonly kind: AlertView['subject_kind']
  readonly id: string
  readonly name: string
  /** Newest first. */
  readonly alerts: readonly AlertView[]
  /** When the first of them was raised. */
  readonly since: string
  readonly streak: number | null
  readonly error: string | null
  /** The schedules whose runs fail. */
  readonly scheduleIds: readonly string[]
}

/** Whether the alert still needs attention. */
export const needsAttention = (
  { status, acknowledged_at: acknowledged, snoozed_until: snoozed }: AlertView,
  now: number,
): boolean => status === 'open' && acknowledged === null && (snoozed === null || Date.parse(snoozed) <= now)

const AGENT_SCHEDULES = 2

/**
 * Groups open alerts by their cause: what they are about, or the agent when several of its schedules fail. Those that
 * need attention come first, then the newest.
 */
export function incidentsOf(alerts: readonly AlertView[], now: number): readonly Incident[] {
  const failing = new Map<string, Set<string>>()
  for (const { kind, agent_id: agent, subject_id: subject } of alerts)
    if (kind === 'failures_in_a_row' && agent !== null)
      failing.set(agent, (failing.get(agent) ?? new Set()).add(subject))
  const groups = new Map<string, AlertView[]>()
  for (const alert of alerts) {
    const { kind, agent_id: agent, subject_kind: subjectKind, subject_id: subject } = alert
    const isAgents =
      agent !== null && kind === 'failures_in_a_row' && (failing.get(agent)?.size ?? 0) >= AGENT_SCHEDULES
    const key = isAgents ? `agent ${agent}` : `${subjectKind} ${subject}`
    groups.set(key, [...(groups.get(key) ?? []), alert])
  }
  const rank = (incident: Incident): number => (incident.alerts.some((alert) => needsAttention(alert, now)) ? 0 : 1)
  return [...groups]
    .map(([key, group]) => incidentOf(key, group))
    .toSorted((a, b) => rank(a) - rank(b) || b.since.localeCompare(a.since))
}

function incidentOf(key: string, alerts: readonly AlertView[]): Incident {
  const [kind, id] = [key.slice(0, key.indexOf(' ')), key.slice(key.indexOf(' ') + 1)]
  const streaks = alerts.flatMap(({ streak }) => (streak === null ? [] : [streak]))
  return {
    kind: kind as Incident['kind'],
    id,
    name: alerts.find(({ subject_id: subject }) => subject === id)?.subject_name ?? id,
    alerts,
    since: alerts.map(({ raised_at: raised }) => raised).toSorted()[0] ?? '',
    streak: streaks.length === 0 ? null : Math.max(...streaks),
    error: alerts.find(({ last_error: error }) => error !== null)?.last_error ?? null,
    scheduleIds: [
      ...new Set(alerts.filter(({ subject_kind: of }) => of === 'schedule').map(({ subject_id: subject }) => subject)),
    ],
  }
}
