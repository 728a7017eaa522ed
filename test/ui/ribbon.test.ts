import { describe, expect, it } from 'vitest'
import { bucketItems, type RibbonItem } from '../../ui/ribbon/items.ts'
import { AXIS_HEIGHT, boxAt, layOut, ROW_HEIGHT } from '../../ui/ribbon/layout.ts'
import { bucketsOf, pan, SPANS, stepFor, ticksOf, viewAround, viewAt, zoom } from '../../ui/ribbon/view.ts'

const HOUR = 3_600_000
const NOW = Date.parse('2026-03-29T00:30:00Z')
const view = viewAround(NOW, SPANS['2h'])

describe('the view of the ribbon', () => {
  it('stays with now until somebody moves it', () => {
    expect(view.from).toBe(NOW - HOUR)
    expect(viewAt(view, NOW + 60_000).from).toBe(NOW - HOUR + 60_000)
    const moved = pan(view, -0.5)
    expect(viewAt(moved, NOW + 60_000)).toEqual({ from: NOW - 2 * HOUR, span: 2 * HOUR, follows: null })
  })

  it('zooms around a place that stays where it is, from 15 minutes to 30 days', () => {
    const around = view.from + view.span * 0.25
    const closer = zoom(view, 0.5, 0.25)
    expect(closer.from + closer.span * 0.25).toBe(around)
    expect(zoom(view, 0.000_1).span).toBe(SPANS['15m'])
    expect(zoom(view, 10_000).span).toBe(SPANS['30d'])
  })

  it('marks round moments of the person’s clock, also behind a change of it', () => {
    // In Berlin the clock goes from 2 to 3 at 01:00 UTC.
    const offset = (at: number): number => (at >= Date.parse('2026-03-29T01:00:00Z') ? 2 : 1) * HOUR
    const ticks = ticksOf({ ...view, span: 4 * HOUR }, HOUR, offset).map((at) =>
      new Date(at + offset(at)).toISOString(),
    )
    expect(ticks.every((text) => text.includes(':00:00.'))).toBe(true)
    expect(new Set(ticks).size).toBe(ticks.length)
    expect(stepFor(2 * HOUR, 950)).toBe(10 * 60_000)
  })
})

describe('what stands on the ribbon', () => {
  const rows = [
    { id: 'a', label: 'A' },
    { id: 'b', label: 'B' },
  ]
  const sheet = { rows, view, width: 1_000, now: NOW }
  const run = (id: string, start: number, end: number | null): RibbonItem => ({
    ...{ kind: 'run', id, row: 'a', start, end, status: end === null ? 'running' : 'success' },
  })

  it('has its real length, runs on to now, and can be met however short it is', () => {
    const boxes = layOut([run('long', NOW - HOUR / 2, NOW - HOUR / 4), run('on', NOW - 6_000, null)], sheet)
    expect(boxes.map(({ x, width }) => [x, width])).toEqual([
      [250, 125],
      [expect.closeTo(499.17, 1), 4],
    ])
    expect(boxAt(boxes, 505, AXIS_HEIGHT + 3)?.item.id).toBe('on')
    expect(boxAt(boxes, 300, AXIS_HEIGHT + ROW_HEIGHT + 3)).toBeNull()
  })

  it('is left out where nobody sees it, and planned ticks keep apart', () => {
    const planned = Array.from({ length: 600 }, (_, n): RibbonItem => ({
      ...{ kind: 'coming', id: `c${n}`, row: 'b', start: NOW + n * 6_000 },
    }))
    const boxes = layOut([run('before', NOW - 3 * HOUR, NOW - 2 * HOUR), ...planned], sheet)
    expect(boxes.length).toBeGreaterThan(80)
    expect(boxes.length).toBeLessThan(110)
  })
})

describe('the buckets of the timeline', () => {
  const at = (minutes: number): string => new Date(NOW + minutes * 60_000).toISOString()
  const dense = Array.from({ length: 60 }, (_, n) => ({
    at: at(n),
    by_status: { success: n + 1 } as const,
    planned: 0,
  }))

  it('are a strip where there is much, and bars where there is little', () => {
    expect(bucketItems('a', dense, 60_000).map(({ isDense }) => isDense)).not.toContain(false)
    const sparse = dense.filter((_, n) => n % 10 === 0)
    expect(bucketItems('a', sparse, 60_000).map(({ isDense }) => isDense)).not.toContain(true)
  })

  it('count every state once, by outcome, and compare themselves with the fullest of the row', () => {
    const counts = { success: 3, failed: 2, rejected: 1, timeout: 1, skipped: 4 } as const
    const items = bucketItems(
      'a',
      [
        { at: at(0), by_status: counts, planned: 11 },
        { at: at(5), by_status: {}, planned: 11 },
      ],
      60_000,
    )
    expect(items[0]?.outcomes).toEqual({ success: 3, failure: 3, late: 1, quiet: 4 })
    expect(items.map(({ strength }) => strength)).toEqual([1, 0.5])
  })

  it('are as long as the server keeps them, so that no range is cut', () => {
    const ago = (days: number) => ({ from: NOW - days * 24 * HOUR, span: SPANS['2h'], follows: null })
    expect([0, 3, 60].map((days) => bucketsOf(ago(days), NOW).step / 60_000)).toEqual([1, 60, 1_440])
    const { from, to, step } = bucketsOf(viewAround(NOW, SPANS['30d']), NOW)
    expect([step / HOUR, (to - from) / step < 300]).toEqual([6, true])
  })
})
