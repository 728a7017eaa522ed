import type { Outbound } from '../../platform/outbound/send.ts'
import { readBody } from '../http/answer.ts'

/** Where to find the instance of a tab: the addresses configured by the operator. */
export interface InstanceLookup {
  readonly tabId?: string
  /** Base URLs by tab; `*` is used for all other tabs. */
  readonly instances: Readonly<Record<string, string>>
  readonly managerUrl: string | null
  readonly token: string | null
}

export type InstanceFound =
  | { readonly kind: 'found'; readonly url: string }
  | { readonly kind: 'unresolved'; readonly message: string; readonly retryable: boolean }
  | { readonly kind: 'aborted'; readonly message: string }

/** The maximum size of a manager's list of tabs. */
const MAX_TAB_LIST_BYTES = 4 << 20
/** How long a list of tabs is cached. */
const TAB_LIST_CACHE_MS = 1_000
const MANAGER_TIMEOUT_MS = 5_000

/**
 * Finds instances of tabs: in the operator's map, or in the manager's list of tabs. A manager without a list is
 * itself the instance. Concurrent tasks share one request to the manager.
 */
export function createInstanceFinder(
  send: Outbound['send'],
  counter: () => number,
): (place: InstanceLookup, signal: AbortSignal) => Promise<InstanceFound> {
  let known: { readonly url: string; readonly at: number; readonly tabs: Promise<TabList> } | null = null
  const listed = ({ managerUrl, token, since }: TabListRequest): Promise<TabList> => {
    if (known !== null && known.url === managerUrl && known.at >= since) return known.tabs
    known = { url: managerUrl, at: counter(), tabs: fetchTabList(send, { url: managerUrl, token }) }
    return known.tabs
  }
  return async ({ tabId = '', instances, managerUrl, token }, signal) => {
    const named = Object.hasOwn(instances, tabId) ? instances[tabId] : instances['*']
    if (named !== undefined) return { kind: 'found', url: withoutTrailingSlash(named) }
    if (managerUrl === null)
      return {
        kind: 'unresolved',
        message:
          'neither an instance (tasks.executor.instances) nor a manager (tasks.executor.manager_url) is configured for it',
        retryable: false,
      }
    const now = counter()
    let list = await orAborted(listed({ managerUrl, token, since: now - TAB_LIST_CACHE_MS }), signal)
    // The tab may have been opened since the list was fetched.
    if (list?.kind === 'listed' && !list.tabs.has(tabId))
      list = await orAborted(listed({ managerUrl, token, since: now }), signal)
    if (list === null) return { kind: 'aborted', message: 'the request was stopped' }
    if (list.kind === 'failed') return { kind: 'unresolved', message: list.message, retryable: list.retryable }
    const url = list.kind === 'alone' ? managerUrl : list.tabs.get(tabId)
    return url === undefined
      ? { kind: 'unresolved', message: 'the manager does not list it', retryable: false }
      : { kind: 'found', url: withoutTrailingSlash(url) }
  }
}

const withoutTrailingSlash = (url: string): string => url.replace(/\/+$/, '')

/** A request for a list that was fetched at `since` or later. */
interface TabListRequest {
  readonly managerUrl: string
  readonly token: string | null
  readonly since: number
}

type TabList =
  | { readonly kind: 'alone' }
  | { readonly kind: 'listed'; readonly tabs: ReadonlyMap<string, string> }
  | { readonly kind: 'failed'; readonly message: string; readonly retryable: boolean }

interface Manager {
  readonly url: string
  readonly token: string | null
}

async function fetchTabList(send: Outbound['send'], manager: Manager): Promise<TabList> {
  const answer = await getFromManager(send, manager, '/instances/tabs')
  if (answer.kind === 'failed') return answer
  if (answer.kind === 'unknown') return { kind: 'alone' }
  const tabs = listIn(answer.value, 'tabs')
  if (tabs === null)
    return { kind: 'failed', message: 'the manager did not answer with a list of tabs', retryable: true }
  const found = new Map<string, string>()
  const byInstance = new Map<string, string>()
  for (const tab of tabs) {
    const id = textOf(tab, ['id', 'tabId', 'targetId'])
    const url = addressOf(tab, manager)
    const instance = textOf(tab, ['instanceId', 'instance'])
    if (id !== null && url !== null) found.set(id, url)
    else if (id !== null && instance !== null) byInstance.set(id, instance)
    else if (id !== null) found.set(id, manager.url)
  }
  if (byInstance.size > 0) for (const [id, url] of await addressesOf(send, manager, byInstance)) found.set(id, url)
  return { kind: 'listed', tabs: found }
}

/** The URLs of the instances that the tabs name; unknown ones are reached through the manager. */
async function addressesOf(
  send: Outbound['send'],
  manager: Manager,
  byInstance: ReadonlyMap<string, string>,
): Promise<readonly (readonly [string, string])[]> {
  const answer = await getFromManager(send, manager, '/instances')
  const instances = answer.kind === 'answered' ? (listIn(answer.value, 'instances') ?? []) : []
  const urls = new Map(instances.map((one) => [textOf(one, ['id', 'instanceId']), addressOf(one, manager)]))
  return [...byInstance].map(([id, instance]) => [id, urls.get(instance) ?? manager.url] as const)
}

type ManagerAnswer =
  | { readonly kind: 'answered'; readonly value: unknown }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'failed'; readonly message: string; readonly retryable: boolean }

async function getFromManager(send: Outbound['send'], { url, token }: Manager, path: string): Promise<ManagerAnswer> {
  const answer = await send({
    url: `${withoutTrailingSlash(url)}${path}`,
    headers: { accept: 'application/json', ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
    ...{ timeoutMs: MANAGER_TIMEOUT_MS, maxBytes: MAX_TAB_LIST_BYTES, purpose: 'operator' },
  })
  if (answer.kind !== 'answered') return { kind: 'failed', message: answer.message, retryable: true }
  const { status, headers, body } = answer
  if (status === 404 || status === 405) return { kind: 'unknown' }
  if (status < 200 || status >= 300)
    return { kind: 'failed', message: `the manager answered ${status}`, retryable: status >= 500 || status === 429 }
  const read = readBody(body, headers)
  return 'flaw' in read
    ? { kind: 'failed', message: `the manager did not answer with JSON: ${read.flaw}`, retryable: true }
    : { kind: 'answered', value: read.value }
}

type Fields = Readonly<Record<string, unknown>>

/** A list, either the value itself or under its name. */
function listIn(value: unknown, name: string): readonly Fields[] | null {
  const isObject = (one: unknown): one is Fields => typeof one === 'object' && one !== null
  const list: unknown = isObject(value) && !Array.isArray(value) ? value[name] : value
  return Array.isArray(list) ? list.filter(isObject) : null
}

function textOf(fields: Fields, names: readonly string[]): string | null {
  const found = names.map((name) => fields[name]).find((value) => typeof value === 'string' && value !== '')
  return typeof found === 'string' ? found : null
}

/**
 * The URL of an instance, or of its port on the manager's machine. The `url` of a tab is its page, so it is not used.
 */
function addressOf(fields: Fields, manager: Manager): string | null {
  const isTab = 'title' in fields || 'instanceId' in fields || 'tabId' in fields
  const url = textOf(fields, ['instanceUrl', 'baseUrl', 'instance_url', ...(isTab ? [] : ['url'])])
  if (url !== null && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
  const port = Number(fields['instancePort'] ?? fields['port'] ?? Number.NaN)
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return null
  const base = new URL(manager.url)
  base.port = String(port)
  return base.origin
}

async function orAborted<T>(pending: Promise<T>, signal: AbortSignal): Promise<T | null> {
  if (signal.aborted) return null
  let stop: () => void = () => undefined
  const stopped = new Promise<null>((resolve) => {
    stop = () => resolve(null)
    signal.addEventListener('abort', stop, { once: true })
  })
  return Promise.race([pending, stopped]).finally(() => signal.removeEventListener('abort', stop))
}
