import type { InfiniteData } from '@tanstack/react-query'
import type { EventView } from '../../../../src/features/events/schema.ts'
import type { RunRow, RunRowPage } from '../run-row.ts'

/** The list as far as it has been read. */
export type RunLog = InfiniteData<RunRowPage, string | null>

/** The newest that was heard of each run. */
export type Changes = ReadonlyMap<string, Pick<EventView, 'at' | 'data'>>

const ENDED = /^(?:success|failed|timeout|cancelled|skipped|dropped|rejected|expired)$/

/** The list with what was heard of its runs in it; those that the filter does not want any more leave it. */
export function withChanges(log: RunLog, changes: Changes, wanted: readonly string[] | null): RunLog {
  const pages = log.pages.map((page) => {
    if (!page.items.some(({ id }) => changes.has(id))) return page
    const items = page.items
      .map((row) => changed(row, changes.get(row.id)))
      .filter(({ status }) => wanted === null || wanted.includes(status))
    return { ...page, items }
  })
  return pages.every((page, index) => page === log.pages[index]) ? log : { ...log, pages }
}

function changed(row: RunRow, change: Pick<EventView, 'at' | 'data'> | undefined): RunRow {
  const { status, reason, attempt } = change?.data ?? {}
  if (change === undefined || typeof status !== 'string') return row
  const isEnd = ENDED.test(status) && row.finished_at === null
  const started = row.started_at ?? (status === 'running' ? change.at : null)
  return {
    ...row,
    status: status as RunRow['status'],
    started_at: started,
    ...(typeof reason === 'string' ? { reason: reason as RunRow['reason'] } : {}),
    ...(typeof attempt === 'number' ? { attempt } : {}),
    ...(isEnd ? { finished_at: change.at, duration_ms: spanOf(started, change.at) } : {}),
  }
}

const spanOf = (from: string | null, to: string): number | null =>
  from === null ? null : Math.max(0, Date.parse(to) - Date.parse(from))

/** How many runs at the front the list does not have yet. */
export function countNew(log: RunLog, front: RunRowPage): number {
  const known = new Set(log.pages.flatMap(({ items }) => items.map(({ id }) => id)))
  return front.items.filter(({ id }) => !known.has(id)).length
}

/** The list with what is known anew of runs that it has; nothing comes to it and nothing moves. */
export function withFacts(log: RunLog, front: RunRowPage): RunLog {
  const facts = new Map(front.items.map((row) => [row.id, row]))
  const [first, ...rest] = log.pages
  if (first === undefined) return log
  return { ...log, pages: [{ ...first, items: first.items.map((row) => facts.get(row.id) ?? row) }, ...rest] }
}

/** The list with its front as it is now. When there is a gap between both, the list begins anew with the front. */
export function withFront(log: RunLog, front: RunRowPage): RunLog {
  const [first, ...rest] = log.pages
  const last = front.items.at(-1)
  const anew: RunLog = { pages: [front], pageParams: [null] }
  if (first === undefined || last === undefined || front.next_cursor === null) return anew
  const known = new Set(first.items.map(({ id }) => id))
  if (!front.items.some(({ id }) => known.has(id))) return anew
  const older = first.items.filter((row) => isOlder(row, last))
  return { ...log, pages: [{ ...first, items: [...front.items, ...older] }, ...rest] }
}

/** Lists are sorted by when runs were made, then by id. */
const isOlder = (row: RunRow, than: RunRow): boolean =>
  row.created_at < than.created_at || (row.created_at === than.created_at && row.id < than.id)
