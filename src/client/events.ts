import { EscapementError, errorOfResponse } from './errors.ts'
import { baseOf, readChunks, type ClientOptions, authHeaders, pause, pauseAfter, unreachable } from './request.ts'
import type { EventKind, EventView, ResetView } from '../features/events/schema.ts'

/** One message of a stream of server-sent events. */
export interface StreamMessage {
  /** The last id received, which may come from an earlier message. */
  readonly id: string
  readonly event: string
  readonly data: string
}

/** Parses a stream of server-sent events (WHATWG HTML). */
interface StreamReader {
  /** Adds a chunk of text and returns the messages it completes. */
  readonly push: (text: string) => readonly StreamMessage[]
  /** The id to reconnect with: that of the last finished block, even if it had no message. */
  readonly lastId: () => string
  /** The reconnection delay the server asked for; null if it has not sent one. */
  readonly retryMs: () => number | null
}

/** Creates a reader; `lastId` is the last id of the previous connection. */
export function createStreamReader(lastId: string): StreamReader {
  let rest = ''
  // A carriage return that ended a chunk may be the first half of a CRLF.
  let endedWithReturn = false
  let id = lastId
  let finishedId = lastId
  let event = ''
  let data: string[] = []
  let retryMs: number | null = null
  const finish = (): readonly StreamMessage[] => {
    // Set only here: a message that breaks off after its id has not been received.
    finishedId = id
    const message = { id, event: event === '' ? 'message' : event, data: data.join('\n') }
    const isEmpty = event === '' && data.length === 0
    event = ''
    data = []
    return isEmpty ? [] : [message]
  }
  const readLine = (line: string): readonly StreamMessage[] => {
    if (line === '') return finish()
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    if (name === 'data') data.push(value)
    else if (name === 'event') event = value
    else if (name === 'id' && !value.includes('\0')) id = value
    else if (name === 'retry' && /^\d+$/.test(value)) retryMs = Number(value)
    return []
  }
  return {
    push: (text) => {
      // Scans only the new chunk, because a line may arrive in very many chunks.
      const fresh = endedWithReturn && text.startsWith('\n') ? text.slice(1) : text
      if (text !== '') endedWithReturn = text.endsWith('\r')
      const [first = '', ...others] = fresh.split(/\r\n|\n|\r/)
      const lines = [rest + first, ...others]
      rest = lines.pop() ?? ''
      return lines.flatMap(readLine)
    },
    lastId: () => finishedId,
    retryMs: () => retryMs,
  }
}

/** Filters events; all events of the org by default. */
export interface EventsFilter {
  readonly kinds?: readonly EventKind[] | undefined
  readonly run_id?: string | undefined
  readonly schedule_id?: string | undefined
  readonly session?: string | undefined
  readonly agent_id?: string | undefined
}

export interface EventsOptions {
  /** Aborts the stream; the iteration then ends without an error. */
  readonly signal?: AbortSignal | undefined
  /** Resumes after this event. If omitted, starts with new events. */
  readonly lastEventId?: string | undefined
  /** Called when the stream opens: the first time and after each interruption. */
  readonly onOpen?: (() => void) | undefined
}

/** Events were lost because the server keeps them for one day only; cached state must be read again. */
export interface EventsReset extends ResetView {
  readonly kind: 'reset'
}

/** The server sends a heartbeat every 15 seconds, so a connection that is silent for longer is dead. */
const SILENCE_MS = 45_000

interface EventConnection {
  readonly options: ClientOptions
  readonly target: string
  readonly signal: AbortSignal | undefined
  readonly onOpen: () => void
}

/**
 * Streams events. After an interruption, it reconnects and resumes after the last event that was yielded. Rejects if
 * the server rejects the request, or if the first connection fails.
 */
export async function* streamEvents(
  options: ClientOptions,
  path: string,
  wanted: { readonly filter: EventsFilter; readonly events: EventsOptions },
): AsyncGenerator<EventView | EventsReset, void, undefined> {
  const { signal, lastEventId = '', onOpen } = wanted.events
  let lastId = lastEventId
  const state = { opened: false, failures: 0 }
  const isOver = (): boolean => signal?.aborted === true
  const stream: EventConnection = {
    ...{ options, signal, target: path + eventsQuery(wanted.filter) },
    onOpen: () => {
      state.opened = true
      state.failures = 0
      onOpen?.()
    },
  }
  while (!isOver()) {
    const reader = createStreamReader(lastId)
    try {
      yield* readConnection(stream, reader, lastId)
    } catch (error) {
      if (isOver()) return
      const isTemporary =
        !(error instanceof EscapementError) || (state.opened && error.status !== null && error.status >= 500)
      if (!isTemporary) throw error
      if (!state.opened && state.failures >= (options.retries ?? 2)) throw streamUnreachable(stream, error)
    }
    lastId = reader.lastId()
    state.failures += 1
    await pause(Math.max(reader.retryMs() ?? 0, pauseAfter(state.failures)), signal).catch(() => undefined)
  }
}

const streamUnreachable = ({ options, target, signal }: EventConnection, cause: unknown): EscapementError =>
  unreachable(
    options,
    {
      ...{ method: 'GET', target, headers: {}, signal, repeatable: true, idempotencyKey: null },
      timeoutMs: SILENCE_MS,
    },
    cause,
  )

function eventsQuery({ kinds, ...others }: EventsFilter): string {
  const query = new URLSearchParams()
  if (kinds !== undefined && kinds.length > 0) query.set('kinds', kinds.join(','))
  for (const [name, value] of Object.entries(others)) if (value !== undefined) query.set(name, value)
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

async function* readConnection(
  { options, target, signal, onOpen }: EventConnection,
  reader: StreamReader,
  lastId: string,
): AsyncGenerator<EventView | EventsReset, void, undefined> {
  const watchdog = createWatchdog(SILENCE_MS)
  const { fetch: sendFetch = globalThis.fetch } = options
  const over = signal === undefined ? watchdog.signal : AbortSignal.any([watchdog.signal, signal])
  try {
    const response = await sendFetch(`${baseOf(options)}${target}`, {
      headers: {
        accept: 'text/event-stream',
        ...authHeaders(options, 'GET'),
        ...(lastId === '' ? {} : { 'last-event-id': lastId }),
      },
      signal: over,
      redirect: 'error',
    })
    if (!response.ok || response.body === null) throw await errorOfResponse(response, { target, idempotencyKey: null })
    onOpen()
    const decoder = new TextDecoder()
    for await (const chunk of readChunks(response.body, over)) {
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
  const expire = (): void => {
    controller.abort(new DOMException(`no data received for ${ms} ms`, 'TimeoutError'))
  }
  let timer = setTimeout(expire, ms)
  return {
    signal: controller.signal,
    feed: () => {
      clearTimeout(timer)
      timer = setTimeout(expire, ms)
    },
    end: () => {
      clearTimeout(timer)
    },
  }
}
