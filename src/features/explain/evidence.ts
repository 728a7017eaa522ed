import { describeRule } from '../../domain/explain/rules.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { because, explainWhy, type Why, toWhy } from '../../domain/reasons.ts'
import { TIMING_FIELDS } from '../../domain/time/timing-fields.ts'
import { ID_PREFIXES } from '../../engine/ids.ts'
import type { AuditRow } from '../audit/store.ts'
import type { ExplainFinding, ExplainLink, ExplainPolicy, FindingKind, LinkKind } from './schema.ts'
import type { RunRecord } from '../runs/record-store.ts'

type LinkPaths = (id: string) => Pick<ExplainLink, 'api' | 'console'>

const pathsFor =
  (api: string, consolePath: (id: string) => string): LinkPaths =>
  (id) => ({ api: `/api/v1/${api}/${encodeURIComponent(id)}`, console: consolePath(encodeURIComponent(id)) })

/** The API path and console page of each kind of object. A kind without its own page links to its list. */
const LINK_PATHS: Readonly<Record<LinkKind, LinkPaths>> = {
  run: pathsFor('runs', (id) => `/automation/runs/${id}`),
  schedule: pathsFor('schedules', (id) => `/automation/schedules/${id}`),
  session: pathsFor('sessions', (id) => `/chat/${id}`),
  agent: pathsFor('agents', (id) => `/agents?agent=${id}`),
  budget: pathsFor('budgets', (id) => `/settings/budgets?open=${id}`),
  provider: pathsFor('providers', (id) => `/settings/providers?open=${id}`),
  target: pathsFor('targets', (id) => `/settings/targets?open=${id}`),
  channel: pathsFor('channels', (id) => `/settings/channels?open=${id}`),
  delivery: pathsFor('deliveries', (id) => `/operations/deliveries?delivery=${id}`),
  heartbeat: (id) => ({
    api: `/api/v1/agents/${encodeURIComponent(id)}/heartbeat/log`,
    console: `/agents/heartbeats?agent=${encodeURIComponent(id)}`,
  }),
  lane: () => ({ api: '/api/v1/lanes', console: '/automation/queue' }),
  node: () => ({ api: '/api/v1/nodes', console: '/operations/nodes' }),
  alert: () => ({ api: '/api/v1/alerts', console: '/operations/alerts?show=all' }),
  audit: (id) => ({
    api: `/api/v1/audit?object_id=${encodeURIComponent(id)}`,
    console: `/operations/audit?object_id=${encodeURIComponent(id)}`,
  }),
}

/** A link to an object, with its relation to the explained object. */
export const linkTo = (kind: LinkKind, id: string, role: string = kind): ExplainLink => ({
  ...{ kind, id, role },
  ...LINK_PATHS[kind](id),
})

/** The kind of an object by the prefix of its id. */
const KIND_BY_PREFIX: readonly (readonly [prefix: string, kind: LinkKind])[] = [
  [ID_PREFIXES.run, 'run'],
  [ID_PREFIXES.task, 'run'],
  [ID_PREFIXES.schedule, 'schedule'],
  [ID_PREFIXES.budget, 'budget'],
  [ID_PREFIXES.target, 'target'],
  [ID_PREFIXES.delivery, 'delivery'],
  [ID_PREFIXES.alert, 'alert'],
  [ID_PREFIXES.node, 'node'],
  [ID_PREFIXES.channel, 'channel'],
]

/** Facts whose values are user-chosen names, which have no prefix: the name of the fact gives the kind. */
const KIND_BY_FACT: Readonly<Record<string, LinkKind>> = {
  ...{ agent: 'agent', lane: 'lane', session: 'session', node: 'node', provider: 'provider' },
}

/** Links to all objects named in the evidence. */
export function evidenceLinks(evidence: Readonly<Record<string, unknown>>): readonly ExplainLink[] {
  return Object.entries(evidence).flatMap(([name, value]) => {
    if (typeof value !== 'string' || value === '') return []
    const kind = KIND_BY_FACT[name] ?? KIND_BY_PREFIX.find(([prefix]) => value.startsWith(prefix))?.[1]
    return kind === undefined ? [] : [linkTo(kind, value, name)]
  })
}

/** Links to all objects that a run belongs to. */
export function runLinks(run: RunRecord): readonly ExplainLink[] {
  const given = (kind: LinkKind, id: string | null, role?: string): readonly ExplainLink[] =>
    id === null ? [] : [linkTo(kind, id, role)]
  return [
    linkTo('run', run.id),
    ...given('schedule', run.scheduleId),
    ...given('session', run.sessionKey),
    linkTo('agent', run.agentId),
    ...given('node', run.nodeId?.startsWith(ID_PREFIXES.node) === true ? run.nodeId : null),
    ...given('run', run.retryOf, 'retry_of'),
    ...given('run', run.parentRunId, 'parent_run'),
    linkTo('audit', run.id),
  ]
}

/** Removes duplicate links; the first role stays. */
export function uniqueLinks(links: readonly ExplainLink[]): readonly ExplainLink[] {
  const seen = new Set<string>()
  return links.filter(({ kind, id }) => {
    const key = `${kind} ${id}`
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

/** The policy of a reason, with its value and its documentation page. */
export const explainPolicyOf = ({ rule, evidence }: Why): ExplainPolicy => describeRule(rule, evidence)

/** States that the sentence names before the reason. */
const STATES_IN_SENTENCE = ['skipped', 'rejected', 'dropped', 'expired', 'cancelled']

/** Puts the name of the object before the sentence of the reason. */
export function sentenceAbout(about: string | null, status: string | undefined, sentence: string): string {
  if (about === null) return sentence
  if (status === 'timeout') return `${about} timed out: ${sentence}`
  if (status === 'failed') return `${about} failed: ${sentence}`
  return status !== undefined && STATES_IN_SENTENCE.includes(status)
    ? `${about} ${status === 'expired' ? '' : 'was '}${status}: ${sentence}`
    : `${about}: ${sentence}`
}

interface FindingSubject {
  readonly kind: FindingKind
  /** The name of the object; null: no specific object. */
  readonly about: string | null
  readonly at: Instant | null
  /** The state of the object; omitted: it has none. */
  readonly status?: NonNullable<ExplainFinding['status']>
  readonly links?: ExplainFinding['links']
}

/** Builds a finding with one sentence that names its object. */
export function createFinding(why: Why, { kind, about, at, status, links = [] }: FindingSubject): ExplainFinding {
  return {
    ...{ kind, about, status: status ?? null, at: at === null ? null : formatInstant(at) },
    ...toWhy(why),
    sentence: sentenceAbout(about, status, explainWhy(why)),
    policy: explainPolicyOf(why),
    links: uniqueLinks([...links, ...evidenceLinks(why.evidence)]),
  }
}

/** The audit entries of a schedule, newest first. */
export type ScheduleAudits = readonly AuditRow[]

const auditFieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}

/** The deletion of the schedule, with its actor; null: it was not deleted. */
export function whyDeleted(audits: ScheduleAudits): Why | null {
  const entry = audits.find(({ action }) => action === 'schedule.delete')
  if (entry === undefined) return null
  const { name } = auditFieldsOf(entry.before)
  return because('deleted_by', 'schedule.delete', {
    ...{ actor: entry.actor, deleted_at: formatInstant(entry.at), audit_no: entry.no },
    schedule: typeof name === 'string' ? name : entry.objectId,
  })
}

/** The change that disabled the schedule before the given time; null: it was not disabled then. */
export function whyDisabled(audits: ScheduleAudits, at: Instant): Why | null {
  const last = audits.find((entry) => entry.at <= at && 'state' in auditFieldsOf(entry.after))
  if (last === undefined || auditFieldsOf(last.after)['state'] !== 'paused') return null
  return because('switched_off', 'state', {
    ...{ actor: last.actor, since: formatInstant(last.at), state: 'paused', audit_no: last.no },
  })
}

/** The change of timing after the given time, with its actor; null: there is none. */
export function whyRetimed(audits: ScheduleAudits, at: Instant): Why | null {
  // The first change after that time replaced the timing that applied then.
  const changed = audits.findLast(
    (entry) =>
      entry.at > at &&
      entry.action === 'schedule.update' &&
      TIMING_FIELDS.some((field) => field in auditFieldsOf(entry.before)),
  )
  if (changed === undefined) return null
  const before = auditFieldsOf(changed.before)
  const beforeFacts = TIMING_FIELDS.flatMap((field): readonly (readonly [string, string])[] =>
    typeof before[field] === 'string' || typeof before[field] === 'number'
      ? [[`before_${field}`, String(before[field])]]
      : [],
  )
  return because('retimed', 'timing', {
    ...{ actor: changed.actor, changed_at: formatInstant(changed.at), audit_no: changed.no },
    ...Object.fromEntries(beforeFacts),
  })
}
