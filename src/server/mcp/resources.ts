import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server'
import { Refusal } from '../../api/refusals.ts'
import type { Page } from '../../api/page.ts'
import type { RunView } from '../../features/runs/schema.ts'
import type { ScheduleView } from '../../features/schedules/schema.ts'
import type { MethodResult } from './server.ts'
import type { ResourceAccess } from './tasks.ts'
import { toolRequest, truncate } from './tools/tool.ts'

/** The kinds of resources: the operation that reads one, and the event about its changes. */
const RESOURCES = {
  schedules: { read: 'schedules.get', changed: 'schedule.changed', title: 'A schedule' },
  runs: { read: 'runs.get', changed: 'run.changed', title: 'A run' },
} as const

type ResourceKind = keyof typeof RESOURCES

const MIME_TYPE = 'application/json'
const URI = /^escapement:\/\/(schedules|runs)\/([^/?#]{1,1536})$/
const PAGE_SIZE = 50

const uriOf = (kind: ResourceKind, id: string): string => `escapement://${kind}/${encodeURIComponent(id)}`

/** The object of a URI; null if the URI is not one of ours. */
function readUri(uri: unknown): { readonly kind: ResourceKind; readonly id: string } | null {
  const [, kind, encoded = ''] = URI.exec(typeof uri === 'string' ? uri : '') ?? []
  if (kind === undefined) return null
  try {
    return { kind: kind as ResourceKind, id: decodeURIComponent(encoded) }
  } catch {
    return null
  }
}

/** Answers `resources/list`, `resources/templates/list` and `resources/read`. */
export async function answerResourceMethod(
  access: ResourceAccess,
  method: string,
  params: Readonly<Record<string, unknown>>,
): Promise<MethodResult> {
  if (method === 'resources/templates/list') return { resourceTemplates: TEMPLATES }
  if (method === 'resources/list') return listResources(access, params['cursor'] as string | undefined)
  const uri = String(params['uri'])
  const found = readUri(uri)
  if (found === null)
    throw new Refusal(
      'NOT_FOUND',
      `Unknown resource; use ${TEMPLATES.map(({ uriTemplate }) => uriTemplate).join(' or ')}`,
    )
  const view = await access.perform(toolRequest(RESOURCES[found.kind].read, { params: { id: found.id } }))
  return { contents: [{ uri, mimeType: MIME_TYPE, text: JSON.stringify(view) }] }
}

const TEMPLATES = Object.entries(RESOURCES).map(([kind, { title }]) => ({
  ...{ name: kind, title, uriTemplate: `escapement://${kind}/{id}`, mimeType: MIME_TYPE },
}))

/** All schedules page by page, and then the newest runs; a caller that may read only one kind gets that one. */
async function listResources(access: ResourceAccess, cursor: string | undefined): Promise<MethodResult> {
  const query = { limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) }
  let denied: Refusal | null = null
  const schedules = await access.perform(toolRequest('schedules.list', { query })).catch((error: unknown) => {
    if (!(error instanceof Refusal) || error.code !== 'FORBIDDEN' || cursor !== undefined) throw error
    denied = error
    return null
  })
  const page = (schedules ?? { items: [], next_cursor: null }) as Page<ScheduleView>
  const resources = page.items.map(({ id, name, description }) => ({
    ...{ uri: uriOf('schedules', id), name: id, title: name, mimeType: MIME_TYPE },
    ...(description === '' ? {} : { description: truncate(description, 500) }),
  }))
  if (page.next_cursor !== null) return { resources, nextCursor: page.next_cursor }
  const runs = await access
    .perform(toolRequest('runs.list', { query: { limit: PAGE_SIZE } }))
    .catch((error: unknown) => {
      if (denied !== null || !(error instanceof Refusal) || error.code !== 'FORBIDDEN') throw error
      return { items: [] }
    })
  const newest = (runs as Pick<Page<RunView>, 'items'>).items.map(({ id, status, created_at: created }) => ({
    ...{ uri: uriOf('runs', id), name: id, title: `Run of ${created}: ${status}`, mimeType: MIME_TYPE },
  }))
  return { resources: [...resources, ...newest] }
}

/** The maximum number of resources of a subscription. */
const MAX_SUBSCRIBED = 100

/** The resources that a `subscriptions/listen` message subscribes to; null for another message. */
export function subscribedUris(body: unknown): readonly string[] | null {
  const { method, params } = (typeof body === 'object' ? (body ?? {}) : {}) as Partial<Record<string, unknown>>
  if (method !== 'subscriptions/listen') return null
  const { notifications } = (params ?? {}) as { readonly notifications?: { readonly resourceSubscriptions?: unknown } }
  const uris = notifications?.resourceSubscriptions
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : []
}

/** A bus that publishes the changes of these resources that the caller may see, from the live events. */
export async function watchResources(
  access: ResourceAccess,
  uris: readonly string[],
): Promise<{ readonly bus: ServerEventBus; readonly ended: Promise<void> }> {
  if (uris.length > MAX_SUBSCRIBED)
    throw new Refusal('VALIDATION', `A subscription can have at most ${MAX_SUBSCRIBED} resources`)
  const wanted = new Map<string, string>()
  for (const uri of uris) {
    const found = readUri(uri)
    if (found !== null) wanted.set(`${RESOURCES[found.kind].changed} ${found.id}`, uri)
  }
  const listeners = new Set<(event: ServerEvent) => void>()
  const missed: ServerEvent[] = []
  const publish = (event: ServerEvent): void => {
    // Before the SDK listens, changes are kept.
    if (listeners.size === 0 && missed.length < MAX_SUBSCRIBED) missed.push(event)
    for (const listener of listeners) listener(event)
  }
  const changed = ({ kind, subject }: { readonly kind: string; readonly subject: string }): void => {
    // After a reset any of them may have changed.
    if (kind === 'reset') for (const uri of wanted.values()) publish({ kind: 'resource_updated', uri })
    const uri = wanted.get(`${kind} ${subject}`)
    if (uri !== undefined) publish({ kind: 'resource_updated', uri })
  }
  const kinds = [...new Set([...wanted.keys()].map((key) => key.split(' ', 1)[0]))]
  const { ended } =
    kinds.length === 0 ? { ended: Promise.resolve() } : await access.watch({ kinds: kinds.join(',') }, changed)
  const subscribe: ServerEventBus['subscribe'] = (listener) => {
    listeners.add(listener)
    for (const event of missed.splice(0))
      queueMicrotask(() => {
        listener(event)
      })
    return () => void listeners.delete(listener)
  }
  return { bus: { publish, subscribe }, ended }
}
