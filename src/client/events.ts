import type { EventKind } from '../contract/event-kinds.ts'
import type { EventView, ResetView } from '../contract/event.ts'
import { chunksOf } from './chunks.ts'
import { EscapementError, refusalIn } from './errors.ts'
import { createStreamReader, type StreamReader } from './event-stream.ts'
import { baseOf, identityOf, pause, pauseAfter, unreachable, type ClientOptions } from './request.ts'

/** Which events are wanted; all of the org unless given. */
export interface EventsFilter {
  readonly kinds?: readonly EventKind[] | undefined
  readonly run_id?: string | undefined
  readonly schedule_id?: string | undefined
  readonly session?: string | undefined
  readonly agent_id?: string | undefined
}

export interface EventsOptions {
  /** Ends the stream; the iteration then simply ends. */
  readonly signal?: AbortSignal | undefined
  /** Goes on behind this event. Left out: from now on. */
  readonly lastEventId?: string | undefined
  /** Called whenever the stream is open, the first time and after each interruption. */
  readonly onOpen?: (() => void) | undefined
}

/** Events were lost, because the server keeps them for a day only: whoever keeps a picture of things must read anew. */
export interface EventsReset extends ResetView {
  readonly kind: 'reset'
}

/** The server says something every 15 seconds; a connection that is silent for longer is dead. */
const SILENCE_MS = 45_000

interface Stream {
  readonly options: ClientOptions
  readonly target: string
  readonly signal: AbortSignal | undefined
  readonly onOpen: () => void
}

/**
 * Everything that happens, as it happens. An interruption is bridged: the stream goes on behind the last event that was
 * handed out. Rejects when the server refuses, or when it cannot be reached in the first place.
 */
export async function* streamEvents(
  options: ClientOptions,
  path: string,
  asked: { readonly filter: EventsFilter; readonly events: EventsOptions },
): AsyncGenerator<EventView | EventsReset, void, undefined> {
  const { signal, lastEventId = '', onOpen } = asked.events
  let lastId = lastEventId
  const state = { opened: false, failures: 0 }
  const isOver = (): boolean => signal?.aborted === true
  const stream: Stream = {
    ...{ options, signal, target: path + queryOf(asked.filter) },
    onOpen: () => {
      state.opened = true
      state.failures = 0
      onOpen?.()
    },
  }
  while (!isOver()) {
    const reader = createStreamReader(lastId)
    try {
      yield* oneConnection(stream, reader, lastId)
    } catch (error) {
      if (isOver()) return
      const mayPass =
        !(error instanceof EscapementError) || (state.opened && error.status !== null && error.status >= 500)
      if (!mayPass) throw error
      if (!state.opened && state.failures >= (options.retries ?? 2)) throw notReached(stream, error)
    }
    lastId = reader.lastId()
    state.failures += 1
    await pause(Math.max(reader.retryMs() ?? 0, pauseAfter(state.failures)), signal).catch(() => undefined)
  }
}

const notReached = ({ options, target, signal }: Stream, cause: unknown): EscapementError =>
  unreachable(
    options,
    {
      ...{ method: 'GET', target, headers: {}, signal, repeatable: true, idempotencyKey: null },
      timeoutMs: SILENCE_MS,
    },
    cause,
  )

function queryOf({ kinds, ...others }: EventsFilter): string {
  const query = new URLSearchParams()
  if (kinds !== undefined && kinds.length > 0) query.set('kinds', kinds.join(','))
  for (const [name, value] of Object.entries(others)) if (value !== undefined) query.set(name, value)
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

async function* oneConnection(
  { options, target, signal, onOpen }: Stream,
  reader: StreamReader,
  lastId: string,
): AsyncGenerator<EventView | EventsReset, void, undefined> {
  const watchdog = createWatchdog(SILENCE_MS)
  const { fetch: ask = globalThis.fetch } = options
  const over = signal === undefined ? watchdog.signal : AbortSignal.any([watchdog.signal, signal])
  try {
    const response = await ask(`${baseOf(options)}${target}`, {
      headers: {
        accept: 'text/event-stream',
        ...identityOf(options, 'GET'),
        ...(lastId === '' ? {} : { 'last-event-id': lastId }),
      },
      signal: over,
      redirect: 'error',
    })
    if (!response.ok || response.body === null) throw await refusalIn(response, { target, idempotencyKey: null })
    onOpen()
    const decoder = new TextDecoder()
    for await (const chunk of chunksOf(response.body, over)) {
      watchdog.feed()
      for (const { event, data } of reader.push(decoder.decode(chunk, { stream: true })))
        yield event === 'reset'
          ? { ...(JSON.parse(data) as ResetView), kind: 'reset' }
          : (JSON.parse(data) as EventView)
    }
  } finally {
    watchdog.end()
  }
}

interface Watchdog {
  readonly signal: AbortSignal
  readonly feed: () => void
  readonly end: () => void
}

function createWatchdog(ms: number): Watchdog {
  const controller = new AbortController()
  const bite = (): void => {
    controller.abort(new DOMException(`nothing was heard for ${ms} ms`, 'TimeoutError'))
  }
  let timer = setTimeout(bite, ms)
  return {
    signal: controller.signal,
    feed: () => {
      clearTimeout(timer)
      timer = setTimeout(bite, ms)
    },
    end: () => {
      clearTimeout(timer)
    },
  }
}
