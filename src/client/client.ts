import type { EventView } from '../contract/event.ts'
import type { SimulateAnswer, SimulateInput } from '../features/simulation/schema.ts'
import type { CallOptions, Calls } from './calls.ts'
import { streamEvents, type EventsFilter, type EventsOptions, type EventsReset } from './events.ts'
import { bodyOf, requireAddress, send, type ClientOptions, type Outgoing } from './request.ts'
import { ROUTES, type Route } from './routes.ts'
import { streamSimulation, type SimulationOptions } from './simulation.ts'

/** The API as an object: `client.<group>.<name>(…)` for every operation, and the stream of what happens. */
export type Client = Omit<Calls, 'events'> & {
  /** Everything that happens, as it happens; interruptions are bridged. */
  readonly events: (
    filter?: EventsFilter,
    options?: EventsOptions,
  ) => AsyncGenerator<EventView | EventsReset, void, undefined>
  /** What would happen: `schedules.simulate`, and how far the server is with it. */
  readonly simulate: (input: SimulateInput, options?: SimulationOptions) => Promise<SimulateAnswer>
}

const EVENTS_PATH = '/api/v1/events'
const USUAL_TIMEOUT_MS = 30_000

/** A client for the server at `url`. Opens nothing before the first call; throws when `url` is no address. */
export function createClient(options: ClientOptions = {}): Client {
  requireAddress(options)
  const groups: Record<string, Record<string, Call>> = {}
  for (const [id, route] of Object.entries(ROUTES)) {
    const [group = '', name = ''] = id.split('.')
    if (route.stream !== true) (groups[group] ??= {})[name] = callOf(options, route)
  }
  const events: Client['events'] = (filter = {}, wanted = {}) =>
    streamEvents(options, EVENTS_PATH, { filter, events: wanted })
  const simulate: Client['simulate'] = (input, wanted = {}) => streamSimulation(options, input, wanted)
  // The types say of each operation what this loop does with its route; a test holds both to the same table.
  return { ...groups, events, simulate } as unknown as Client
}

type Call = (...args: readonly unknown[]) => Promise<unknown>
type Values = Readonly<Record<string, unknown>>

function callOf(options: ClientOptions, route: Route): Call {
  return async (...args) => {
    const outgoing = outgoingOf(route, args)
    return bodyOf(await send(options, outgoing), outgoing, route.also ?? [])
  }
}

/** Sorts the arguments of a call: parameters of the path, the body or else the query, options. */
function outgoingOf(route: Route, args: readonly unknown[]): Outgoing {
  const { method, path, creates, body: hasBody, query: hasQuery } = route
  const rest = [...args]
  const target = path.includes('/:') ? pathOf(path, rest.shift()) : path
  const input = hasBody === true || hasQuery === true ? rest.shift() : undefined
  const options = (rest.shift() ?? {}) as CallOptions & { readonly query?: Values }
  const query = (hasBody === true ? options.query : input) as Values | undefined
  const idempotencyKey = creates === true ? (options.idempotencyKey ?? newKey()) : null
  const hasContent = hasBody === true && input !== undefined
  return {
    ...{ method, target: target + queryOf(query ?? {}), signal: options.signal, idempotencyKey },
    ...(hasContent ? { body: JSON.stringify(input) } : {}),
    headers: {
      ...(hasContent ? { 'content-type': 'application/json' } : {}),
      ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
      ...(options.ifMatch === undefined ? {} : { 'if-match': `"${options.ifMatch}"` }),
    },
    timeoutMs: options.timeoutMs ?? USUAL_TIMEOUT_MS + 1_000 * Number(query?.['wait'] ?? 0),
    repeatable: method === 'GET' || creates === true,
  }
}

function pathOf(path: string, given: unknown): string {
  const values = (typeof given === 'object' && given !== null ? given : {}) as Values
  return path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = typeof given === 'string' ? given : values[name]
    if (typeof value !== 'string' || value === '')
      throw new TypeError(`${path} needs ${name}: a text that is not empty`)
    return encodeURIComponent(value)
  })
}

function queryOf(values: Values): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && value !== null) query.set(name, Array.isArray(value) ? value.join(',') : textOf(value))
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Not `randomUUID`, which browsers keep from pages that came without encryption. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
