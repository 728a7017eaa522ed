import { QueryClient } from '@tanstack/react-query'
import { describe, expect, it } from 'vitest'
import { entriesOfEvent, logEvent } from '../../src/domain/run/log-entry.ts'
import type { EventView } from '../../src/features/events/schema.ts'
import { patchRun } from '../../ui/api/patches.ts'
import { mergeEntries, wordsOf } from '../../ui/api/stream.ts'
import { countNew, withChanges, withFacts, withFront, type RunLog } from '../../ui/pages/runs/one/run-log.ts'
import { csvOf } from '../../ui/pages/runs/export.ts'
import { listedTime, rowOf, type RunRow } from '../../ui/pages/runs/run-row.ts'
import type { RunView } from '../../src/features/runs/schema.ts'
import { filterOf, readRunSearch } from '../../ui/pages/runs/run-search.ts'

const at = (minute: number): string => new Date(Date.UTC(2026, 2, 4, 9, minute)).toISOString()

const row = (minute: number, more: Partial<RunRow> = {}): RunRow =>
  ({
    id: `run_${minute}`,
    status: 'running',
    created_at: at(minute),
    started_at: at(minute),
    ...BLANK,
    ...more,
  }) as RunRow
const BLANK = { finished_at: null, duration_ms: null, reason: null, attempt: 1 }

const log = (...pages: readonly (readonly RunRow[])[]): RunLog => ({
  pages: pages.map((items, index) => ({ items, next_cursor: `after ${index}` })),
  pageParams: pages.map((_, index) => (index === 0 ? null : `after ${index - 1}`)),
})

const idsOf = ({ pages }: RunLog): readonly string[] => pages.flatMap(({ items }) => items.map(({ id }) => id))

describe('the list of runs', () => {
  const known = log([row(9), row(8), row(7)], [row(6), row(5)])

  it('takes in what is new at its front, and loses nothing of what it has', () => {
    const next = withFront(known, { items: [row(11), row(10), row(9), row(8)], next_cursor: 'x' })
    expect(idsOf(next)).toEqual(['run_11', 'run_10', 'run_9', 'run_8', 'run_7', 'run_6', 'run_5'])
    expect(next.pages[0]?.next_cursor).toBe('after 0')
  })

  it('leaves out what does not belong to it any more, and begins anew where there is a gap', () => {
    const without = withFront(known, { items: [row(10), row(8)], next_cursor: 'x' })
    expect(idsOf(without)).toEqual(['run_10', 'run_8', 'run_7', 'run_6', 'run_5'])
    const far = { items: [row(50), row(49)], next_cursor: 'x' }
    expect(withFront(known, far)).toEqual({ pages: [far], pageParams: [null] })
    const all = { items: [row(9)], next_cursor: null }
    expect(idsOf(withFront(known, all))).toEqual(['run_9'])
  })

  it('moves nothing for whoever has scrolled away, and counts what waits', () => {
    const front = { items: [row(11), row(10), row(9, { status: 'success' })], next_cursor: 'x' }
    expect(countNew(known, front)).toBe(2)
    const next = withFacts(known, front)
    expect(idsOf(next)).toEqual(idsOf(known))
    expect(next.pages[0]?.items[0]?.status).toBe('success')
  })

  it('believes events about any of its rows, and drops those that the filter does not want any more', () => {
    const change = new Map([['run_6', { at: at(30), data: { status: 'failed', reason: 'not_retryable', attempt: 2 } }]])
    const next = withChanges(known, change, null)
    expect(next.pages[1]?.items[0]).toMatchObject({
      ...{ status: 'failed', reason: 'not_retryable', attempt: 2, finished_at: at(30), duration_ms: 24 * 60_000 },
    })
    expect(next.pages[0]).toBe(known.pages[0])
    expect(idsOf(withChanges(known, change, ['running']))).toEqual(['run_9', 'run_8', 'run_7', 'run_5'])
    expect(withChanges(known, new Map([['run_x', { at: at(1), data: { status: 'failed' } }]]), null)).toBe(known)
  })
})

describe('the address of the list of runs', () => {
  it('keeps what makes sense and nothing else', () => {
    const read = readRunSearch({
      status: 'failed,nonsense,timeout',
      trigger: 'x',
      session: 42,
      edit: 'new',
      within: '1h',
    })
    expect(read).toEqual({ status: 'failed,timeout', session: '42', within: '1h' })
    expect(readRunSearch({ within: '9y', from: '2026-03-04T09:00:00+01:00', to: 'soon' })).toEqual({
      from: '2026-03-04T08:00:00.000Z',
    })
    expect(filterOf({ within: '1h', agent_id: 'a' }, Date.parse(at(0)))).toEqual({
      ...{ agent_id: 'a', from: '2026-03-04T08:00:00.000Z' },
    })
  })
})

describe('an answer that comes in pieces', () => {
  const event = (output: readonly unknown[], first: number, attempt = 1) => ({
    data: { attempt, output, ids: output.map((_, index) => `000000000${first + index}`) },
  })
  const entries = (...args: Parameters<typeof event>) => entriesOfEvent(event(...args)) ?? []

  it('is the pieces put together, and begins anew with another attempt', () => {
    const first = entries(['Hel', 'lo', ' you', { step: 2 }], 10)
    expect(wordsOf(first)).toBe('Hello you\n{"step":2}\n')
    expect(wordsOf([...first, ...entries(['Again', logEvent('info', 'a line')], 20, 2)])).toBe('Again')
  })

  it('shows what was stored and what arrives since, each once and in order', () => {
    const stored = entries(['one', 'two'], 10)
    const live = [...entries(['two', 'three'], 11), ...entries(['again'], 30, 2)]
    expect(mergeEntries(stored, live).map(({ text }) => text)).toEqual(['one', 'two', 'three', 'again'])
    expect(mergeEntries(stored, stored)).toBe(stored)
  })

  it('has to be read from the log where an event was too large for it', () => {
    expect(entriesOfEvent({ data: { attempt: 1, output: 'half of it […cut]' } })).toBeNull()
  })
})

describe('a change of a run', () => {
  it('leaves its explanation alone, which belongs to the state before', () => {
    const queries = new QueryClient()
    queries.setQueryData(['runs', 'get', 'run_1'], { id: 'run_1', status: 'queued' })
    queries.setQueryData(['runs', 'get', 'run_1', 'explain'], { run_id: 'run_1', status: 'queued', reason: 'in_line' })
    patchRun(queries, { subject: 'run_1', data: { status: 'running' } } as unknown as EventView)
    expect(queries.getQueryData(['runs', 'get', 'run_1'])).toMatchObject({ status: 'running' })
    expect(queries.getQueryData(['runs', 'get', 'run_1', 'explain'])).toMatchObject({ status: 'queued' })
  })
})

describe('a run in the list', () => {
  const run = {
    ...{ id: 'run_1', status: 'failed', trigger: 'schedule', agent_id: 'a,b', schedule_id: null, session_key: null },
    ...{ created_at: at(1), started_at: at(9), finished_at: at(10), duration_ms: 60_000, attempt: 4, first_attempt: 1 },
    ...{ usage: { input_tokens: 10, output_tokens: 5, cost: 0.002 }, payload: 'go' },
    ...{ error_code: 'internal', agent_error_code: null, error_message: '=HYPERLINK("x")' },
  } as unknown as RunView

  it('shows the time that the list is sorted by, however late it started or was retried', () => {
    const rows = [rowOf({ ...run, created_at: at(3), started_at: at(4) }), rowOf(run)]
    const times = rows.map(listedTime)
    expect(times).toEqual(times.toSorted().toReversed())
    expect(rows[1]).toMatchObject({ tokens: 15, cost: 0.002 })
  })

  it('is exported with all of its attempts, and can run nothing in a spreadsheet', () => {
    const [names, line, rest] = csvOf([run]).split('\r\n')
    expect([names?.split(',').slice(0, 2), rest]).toEqual([['id', 'status'], ''])
    expect(line).toContain('"a,b"')
    expect(line).toContain(',60000,4,10,5,0.002,internal,"\'=HYPERLINK(""x"")"')
  })
})
