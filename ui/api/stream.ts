import { queryOptions, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { entriesOfEvent, type ShownEntry } from '../../src/domain/run/log-entry.ts'
import type { EventView } from '../../src/features/events/schema.ts'
import { api } from './client.ts'
import { onEvent } from './live.ts'

/** What has arrived of a run since this page was opened. */
interface Arrived {
  readonly entries: readonly ShownEntry[]
  /** How often an event was too large for its entries, so that they have to be read from the log. */
  readonly gaps: number
}

const MAX_RUNS = 50
const MAX_ARRIVED = 5_000

let arrived: ReadonlyMap<string, Arrived> = new Map()
const listeners = new Set<() => void>()

function receive(event: EventView): void {
  if (event.kind !== 'run.output') return
  const { subject } = event
  const known = arrived.get(subject) ?? { entries: [], gaps: 0 }
  const entries = entriesOfEvent(event)
  const next =
    entries === null
      ? { ...known, gaps: known.gaps + 1 }
      : { ...known, entries: [...known.entries, ...entries].slice(-MAX_ARRIVED) }
  const others = [...arrived].filter(([id]) => id !== subject).slice(1 - MAX_RUNS)
  arrived = new Map([...others, [subject, next]])
  for (const listener of listeners) listener()
}

onEvent(receive)

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

const MAX_PAGES = 10
const PAGE = 1_000

async function readLog(id: string, signal: AbortSignal): Promise<readonly ShownEntry[]> {
  const entries: ShownEntry[] = []
  for (let cursor: string | null = '', pages = 0; cursor !== null && pages < MAX_PAGES; pages += 1) {
    const more: { readonly cursor?: string } = cursor === '' ? {} : { cursor }
    const page = await api.runs.log(id, { limit: PAGE, ...more }, { signal })
    for (const entry of page.items) entries.push(entry)
    cursor = page.next_cursor
  }
  return entries
}

// Below the run, so that it is read again when the run changes: an attempt's log is complete when the attempt has ended.
const storedLog = (id: string) =>
  queryOptions({ queryKey: ['runs', 'get', id, 'log'], queryFn: ({ signal }) => readLog(id, signal), retry: false })

/** Stored entries and those that have arrived since, each once, in order. */
export function mergeEntries(stored: readonly ShownEntry[], live: readonly ShownEntry[]): readonly ShownEntry[] {
  const known = new Set(stored.map(({ id }) => id))
  const fresh = live.filter(({ id }) => !known.has(id))
  if (fresh.length === 0) return stored
  const isBefore = (a: ShownEntry, b: ShownEntry): number => a.attempt - b.attempt || (a.id < b.id ? -1 : 1)
  return [...stored, ...fresh].sort(isBefore)
}

/** What a run has printed, from the log and live. Undefined while nothing is known. */
export function useLog(id: string, isWanted = true): readonly ShownEntry[] | undefined {
  const { data, refetch } = useQuery({ ...storedLog(id), enabled: isWanted })
  const live = useSyncExternalStore(subscribe, () => arrived.get(id))
  const gaps = live?.gaps ?? 0
  useEffect(() => {
    if (gaps > 0 && isWanted) void refetch()
  }, [gaps, isWanted, refetch])
  return useMemo(
    () => (data === undefined && live === undefined ? undefined : mergeEntries(data ?? [], live?.entries ?? [])),
    [data, live],
  )
}

/** The words of the latest attempt; a step is a line of JSON. */
export function wordsOf(entries: readonly ShownEntry[]): string {
  const attempt = entries.at(-1)?.attempt
  return entries
    .filter((entry) => entry.attempt === attempt && entry.kind !== 'log')
    .map(({ text, data }) => text ?? `\n${JSON.stringify(data)}\n`)
    .join('')
}
