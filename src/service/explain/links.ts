import type { ExplainLink, LinkKind } from '../../features/explain/schema.ts'
import type { RunRecord } from '../../store/run-record.ts'
import { ID_PREFIXES } from '../../engine/ids.ts'

type Place = (id: string) => Pick<ExplainLink, 'api' | 'console'>

const one =
  (api: string, shown: (id: string) => string): Place =>
  (id) => ({ api: `/api/v1/${api}/${encodeURIComponent(id)}`, console: shown(encodeURIComponent(id)) })

/** Where each kind of thing is shown. What has no page of its own is shown on the list that it stands in. */
const PLACES: Readonly<Record<LinkKind, Place>> = {
  run: one('runs', (id) => `/automation/runs/${id}`),
  schedule: one('schedules', (id) => `/automation/schedules/${id}`),
  session: one('sessions', (id) => `/chat/${id}`),
  agent: one('agents', (id) => `/agents?agent=${id}`),
  budget: one('budgets', (id) => `/settings/budgets?open=${id}`),
  provider: one('providers', (id) => `/settings/providers?open=${id}`),
  target: one('targets', (id) => `/settings/targets?open=${id}`),
  channel: one('channels', (id) => `/settings/channels?open=${id}`),
  delivery: one('deliveries', (id) => `/operations/deliveries?delivery=${id}`),
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

/** A door to something, and what it has to do with what is explained. */
export const linkTo = (kind: LinkKind, id: string, role: string = kind): ExplainLink => ({
  ...{ kind, id, role },
  ...PLACES[kind](id),
})

/** What an id is of, by what it begins with. */
const BY_PREFIX: readonly (readonly [prefix: string, kind: LinkKind])[] = [
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

/** Facts whose values are names that people give: the name of the fact says what they are of. */
const BY_NAME: Readonly<Record<string, LinkKind>> = {
  ...{ agent: 'agent', lane: 'lane', session: 'session', node: 'node', provider: 'provider' },
}

/** Doors to everything that the evidence names. */
export function evidenceLinks(evidence: Readonly<Record<string, unknown>>): readonly ExplainLink[] {
  return Object.entries(evidence).flatMap(([name, value]) => {
    if (typeof value !== 'string' || value === '') return []
    const kind = BY_NAME[name] ?? BY_PREFIX.find(([prefix]) => value.startsWith(prefix))?.[1]
    return kind === undefined ? [] : [linkTo(kind, value, name)]
  })
}

/** Doors to everything that a run belongs to. */
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

/** Each door once, whatever it was named for first. */
export function onlyOnce(links: readonly ExplainLink[]): readonly ExplainLink[] {
  const seen = new Set<string>()
  return links.filter(({ kind, id }) => {
    const key = `${kind} ${id}`
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}
