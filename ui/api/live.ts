import type { Query, QueryClient } from '@tanstack/react-query'
import { createClient } from '../../src/client/client.ts'
import { EscapementError } from '../../src/client/errors.ts'
import type { EventView } from '../../src/features/events/schema.ts'
import { meQuery } from './session.ts'
import { setLiveStatus } from './live-status.ts'
import { patchRun } from './patches.ts'
import { touchedBy, type Touched } from './touched.ts'

/** The first change shows at once; under steady work everything on screen is read again once a second. */
const COLLECT_MS = 150
const APART_MS = 1_000
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 8_000
/** A connection that is away for longer than this is worth a banner. */
const OFFLINE_AFTER_MS = 3_000

/** Listens for as long as the page lives, or until the returned function is called. One connection for everything. */
export function listen(queryClient: QueryClient): () => void {
  const controller = new AbortController()
  const caches = createInvalidator(queryClient)
  void follow({ queryClient, caches, signal: controller.signal })
  return () => {
    controller.abort()
    caches.stop()
  }
}

interface Following {
  readonly queryClient: QueryClient
  readonly caches: ReturnType<typeof createInvalidator>
  readonly signal: AbortSignal
}

/** Hearers of single events, for pages that show a stream of output. */
const hearers = new Set<(event: EventView) => void>()

/** Calls back with every event of the org; answers with how to hear no more. */
export function onEvent(hear: (event: EventView) => void): () => void {
  hearers.add(hear)
  return () => void hearers.delete(hear)
}

async function follow({ queryClient, caches, signal }: Following): Promise<void> {
  const connection = createConnection(signal)
  let lastEventId = ''
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      const stream = connection.client.events(
        {},
        {
          ...{ signal, lastEventId: lastEventId === '' ? undefined : lastEventId },
          onOpen: () => {
            failures = 0
            // Without an id there is nothing to go on from: what happened before the first event is read.
            if (lastEventId === '') caches.all()
            connection.opened()
          },
        },
      )
      for await (const event of stream) {
        lastEventId = event.id
        if (event.kind === 'reset') caches.all()
        else hear({ queryClient, caches }, event)
      }
    } catch (error) {
      // Signed out elsewhere, or expired: asking who we are leads to the sign-in page.
      if (error instanceof EscapementError && error.status === 401)
        void queryClient.invalidateQueries({ queryKey: meQuery.queryKey })
    }
    connection.lost()
    await new Promise((resolve) => setTimeout(resolve, Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures)))
  }
}

function hear({ queryClient, caches }: Pick<Following, 'queryClient' | 'caches'>, event: EventView): void {
  if (event.kind === 'run.changed') patchRun(queryClient, event)
  caches.touch(touchedBy(event))
  for (const each of hearers) each(event)
}

/** Gathers what is old, and lets what is on screen be fetched again: at once after a pause, else once per stretch. */
function createInvalidator(queryClient: QueryClient): {
  readonly touch: (touched: readonly Touched[]) => void
  readonly all: () => void
  readonly stop: () => void
} {
  const waiting = new Map<string, Touched>()
  const calmed = new Map<string, Touched>()
  let calmTimer: ReturnType<typeof setTimeout> | null = null
  let timer: ReturnType<typeof setTimeout> | null = null
  let everything = false
  let flushedAt = -Infinity
  const flush = (): void => {
    timer = null
    flushedAt = performance.now()
    if (everything) void queryClient.invalidateQueries()
    else flushTouched([...waiting.values()])
    everything = false
    waiting.clear()
  }
  /** Reads again what was touched. What is calm and was read a moment ago is only marked as old, and read later. */
  const flushTouched = (touched: readonly Touched[]): void => {
    const now = Date.now()
    const leftOf = (query: Query): number => (query.meta?.calmMs ?? 0) - (now - query.state.dataUpdatedAt)
    let wait = Infinity
    for (const queryKey of touched) {
      const isHeld = (query: Query): boolean => leftOf(query) > 0
      void queryClient.invalidateQueries({ queryKey, predicate: (query) => !isHeld(query) })
      void queryClient.invalidateQueries({ queryKey, predicate: isHeld, refetchType: 'none' })
      const held = queryClient.getQueryCache().findAll({ queryKey, type: 'active', predicate: isHeld })
      if (held.length > 0) calmed.set(queryKey.join(' '), queryKey)
      wait = Math.min(wait, ...held.map(leftOf))
    }
    if (calmed.size === 0) return
    calmTimer ??= setTimeout(() => {
      calmTimer = null
      const again = [...calmed.values()]
      calmed.clear()
      flushTouched(again)
    }, wait)
  }
  const soon = (): void => {
    timer ??= setTimeout(flush, Math.max(COLLECT_MS, flushedAt + APART_MS - performance.now()))
  }
  return {
    touch: (touched) => {
      for (const key of touched) waiting.set(key.join(' '), key)
      if (touched.length > 0) soon()
    },
    all: () => {
      everything = true
      soon()
    },
    stop: () => {
      if (timer !== null) clearTimeout(timer)
      if (calmTimer !== null) clearTimeout(calmTimer)
    },
  }
}

/** The connection as the top bar shows it. The end of an answer is noticed here, before anybody tries again. */
function createConnection(signal: AbortSignal) {
  let timer: ReturnType<typeof setTimeout> | null = null
  const opened = (): void => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    setLiveStatus('connected')
  }
  const lost = (): void => {
    if (signal.aborted || timer !== null) return
    setLiveStatus('resyncing')
    timer = setTimeout(() => {
      setLiveStatus('offline')
    }, OFFLINE_AFTER_MS)
  }
  const watched: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (response.body === null || !response.ok) return response
    return new Response(watchEnd(response.body, lost), { status: response.status, headers: response.headers })
  }
  return { client: createClient({ fetch: watched, retries: 0 }), opened, lost }
}

/** The same stream; calls back when it ends, however it ends. */
function watchEnd(body: ReadableStream<Uint8Array>, ended: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read()
        if (!done) {
          controller.enqueue(value)
          return
        }
        controller.close()
      } catch (error) {
        controller.error(error)
      }
      ended()
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
