import type { EventView } from '../features/events/schema.ts'
import type { SimulateAnswer, SimulateInput } from '../features/simulation/schema.ts'
import type { CallOptions, Calls } from './calls.ts'
import { streamEvents, type EventsFilter, type EventsOptions, type EventsReset } from './events.ts'
import { responseBody, requireAddress, sendRequest, type ClientOptions, type Outgoing } from './request.ts'
import { ROUTES, type Route } from './routes.ts'
import { streamSimulation, type SimulationOptions } from './simulation.ts'

/** The API as an object: `client.<group>.<name>(…)` for every operation, and the event stream. */
export type Client = Omit<Calls, 'events'> & {
  /** Streams events; reconnects after interruptions. */
  readonly events: (
    filter?: EventsFilter,
    options?: EventsOptions,
  ) => AsyncGenerator<EventView | EventsReset, void, undefined>
  /** Runs `schedules.simulate` with progress reports. */
  readonly simulate: (input: SimulateInput, options?: SimulationOptions) => Promise<SimulateAnswer>
}

const EVENTS_PATH = '/api/v1/events'
const DEFAULT_TIMEOUT_MS = 30_000

/**
 * Creates a client for the server at `url`. Opens no connection before the first call; throws if `url` is not a URL.
 */
export function createClient(options: ClientOptions = {}): Client {
  requireAddress(options)
  const groups: Record<string, Record<string, ClientFunction>> = {}
  for (const [id, route] of Object.entries(ROUTES)) {
    const [group = '', name = ''] = id.split('.')
    if (route.stream !== true) (groups[group] ??= {})[name] = clientFunction(options, route)
  }
  const events: Client['events'] = (filter = {}, streamOptions = {}) =>
    streamEvents(options, EVENTS_PATH, { filter, events: streamOptions })
  const simulate: Client['simulate'] = (input, streamOptions = {}) => streamSimulation(options, input, streamOptions)
  // The types describe what this loop builds; a test compares both with the operation table.
  return { ...groups, events, simulate } as unknown as Client
}

type ClientFunction = (...args: readonly unknown[]) => Promise<unknown>
type Values = Readonly<Record<string, unknown>>

function clientFunction(options: ClientOptions, route: Route): ClientFunction {
  return async (...args) => {
    const outgoing = outgoingOf(route, args)
    return responseBody(await sendRequest(options, outgoing), outgoing, route.also ?? [])
  }
}

/** Assigns the arguments of a call: path parameters, the body or else the query, options. */
function outgoingOf(route: Route, args: readonly unknown[]): Outgoing {
  const { method, path, creates, body: hasBody, query: queryKind } = route
  const rest = [...args]
  const target = path.includes('/:') ? pathOf(path, rest.shift()) : path
  const input = hasBody === true || queryKind === true ? rest.shift() : undefined
  const options = (rest.shift() ?? {}) as CallOptions & { readonly query?: Values }
  const query = (hasBody === true || queryKind === 'option' ? options.query : input) as Values | undefined
  const idempotencyKey = creates === true ? (options.idempotencyKey ?? newKey()) : null
  const hasContent = hasBody === true && input !== undefined
  return {
    ...{ method, target: target + queryString(query ?? {}), signal: options.signal, idempotencyKey },
    ...(hasContent ? { body: JSON.stringify(input) } : {}),
    headers: {
      ...(hasContent ? { 'content-type': 'application/json' } : {}),
      ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
      ...(options.ifMatch === undefined ? {} : { 'if-match': `"${options.ifMatch}"` }),
    },
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS + 1_000 * Number(query?.['wait'] ?? 0),
    repeatable: method === 'GET' || creates === true,
  }
}

function pathOf(path: string, given: unknown): string {
  const values = (typeof given === 'object' && given !== null ? given : {}) as Values
  return path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = typeof given === 'string' ? given : values[name]
    if (typeof value !== 'string' || value === '') throw new TypeError(`${path} requires ${name}: a non-empty text`)
    return encodeURIComponent(value)
  })
}

function queryString(values: Values): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && value !== null)
      query.set(name, Array.isArray(value) ? value.join(',') : queryValue(value))
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

const queryValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Not `randomUUID`, which browsers hide from pages loaded without TLS. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
