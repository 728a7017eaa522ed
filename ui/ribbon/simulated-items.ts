import type { OutageInput, SimulatedRunView, SimulationView } from '../../src/features/simulation/result-schema.ts'
import {
  bucketItems,
  type RibbonItem,
  type RibbonMark,
  type RibbonRow,
  type RibbonRun,
  type RibbonShade,
} from './items.ts'
import type { Say } from '../texts/fill.ts'

/** What of a simulation stands on the ribbon. */
export interface LaidOut {
  readonly rows: readonly RibbonRow[]
  readonly items: readonly RibbonItem[]
}

interface Laying {
  readonly say: Say
  /** How many runs of a schedule are drawn beside each other. */
  readonly mostBeside: number
  /** Occurrences that are set off, as `occurrenceName` has them. */
  readonly marked?: ReadonlySet<string> | undefined
  readonly hrefOf?: ((scheduleId: string) => string | undefined) | undefined
}

/** What an occurrence is called, whatever became of it. */
export const occurrenceName = (run: Pick<SimulatedRunView, 'schedule_id' | 'nominal_time'>): string =>
  `${run.schedule_id} ${run.nominal_time ?? ''}`

/** A row for each schedule, and more where its runs are beside each other. Where not all runs are told, their counts. */
export function layOutSimulation(view: SimulationView, laying: Laying): LaidOut {
  const { schedules: shown, truncated, bucket_seconds: seconds } = view
  if (truncated)
    return {
      rows: shown.map(({ id, name }) => ({ id: rowOf(id, 0), label: name, href: laying.hrefOf?.(id) })),
      items: shown.flatMap(({ id, buckets }) => bucketItems(rowOf(id, 0), buckets, seconds * 1_000)),
    }
  const byId = new Map(shown.map(({ id }) => [id, [] as SimulatedRunView[]]))
  for (const run of view.rows) byId.get(run.schedule_id)?.push(run)
  const rows: RibbonRow[] = []
  const items: RibbonItem[] = []
  for (const { id, name } of shown) {
    const lines = layRuns(byId.get(id) ?? [], { ...laying, id, until: Date.parse(view.to) })
    items.push(...lines.items)
    const href = laying.hrefOf?.(id)
    for (let line = 0; line < lines.count; line += 1)
      rows.push({ id: rowOf(id, line), label: line === 0 ? name : '', ...(line === 0 ? { href } : {}) })
  }
  for (const range of view.ranges)
    items.push({
      ...{ kind: 'skipped', id: `${range.schedule_id} ${range.first} range`, row: rowOf(range.schedule_id, 0) },
      ...{ start: Date.parse(range.first), note: `${range.count} × ${range.reason}: ${range.sentence}` },
    })
  return { rows, items }
}

const rowOf = (id: string, line: number): string => `${id} ${line}`

interface LayingRuns extends Laying {
  readonly id: string
  /** The end of the window: what is still going on goes on so long. */
  readonly until: number
}

function layRuns(
  runs: readonly SimulatedRunView[],
  laying: LayingRuns,
): { readonly items: readonly RibbonItem[]; readonly count: number } {
  const busyUntil: number[] = []
  const items: RibbonItem[] = []
  for (const run of runs) {
    const isMarked = laying.marked?.has(occurrenceName(run)) === true
    if (run.status === 'skipped') {
      items.push(skipOf(run, rowOf(laying.id, 0), isMarked))
      continue
    }
    const bars = barsOf(run, laying)
    const [start, end] = [bars[0]?.start ?? 0, bars.at(-1)?.end ?? 0]
    const free = busyUntil.findIndex((until) => until <= start)
    const line = free >= 0 ? free : Math.min(busyUntil.length, laying.mostBeside - 1)
    busyUntil[line] = Math.max(busyUntil[line] ?? 0, end)
    for (const bar of bars) items.push({ ...bar, row: rowOf(laying.id, line), isMarked })
  }
  return { items, count: Math.max(1, busyUntil.length) }
}

const skipOf = (run: SimulatedRunView, row: string, isMarked: boolean): RibbonItem => ({
  ...{ kind: 'skipped', id: run.id, row, start: Date.parse(run.nominal_time ?? run.created_at), isMarked },
  note: `${run.reason}: ${run.sentence}`,
})

type Bar = Omit<RibbonRun, 'row' | 'end'> & { readonly end: number }

/** What it waited for, then its attempts with the waits between them. */
function barsOf(run: SimulatedRunView, { until, say }: LayingRuns): readonly Bar[] {
  const bars: Bar[] = []
  const note = run.status === 'running' ? say('sim.stillRunning') : `${run.reason}: ${run.sentence}`
  let at = Date.parse(run.created_at)
  for (const attempt of run.attempts) {
    const start = Date.parse(attempt.started_at)
    const end = attempt.finished_at === null ? until : Date.parse(attempt.finished_at)
    if (start > at)
      bars.push({ kind: 'run', id: `${run.id} w${attempt.number}`, start: at, end: start, status: 'waiting' })
    const told = say('sim.attempt', { count: attempt.number })
    bars.push({
      ...{ kind: 'run', id: `${run.id} ${attempt.number}`, start, end, status: attempt.status },
      note: `${told}. ${attempt.finished_at === run.finished_at ? note : (attempt.error_code ?? '')}`,
    })
    at = end
  }
  const end = run.finished_at === null ? until : Date.parse(run.finished_at)
  if (end > at || bars.length === 0)
    bars.push({
      kind: 'run',
      id: `${run.id} end`,
      start: at,
      end,
      status: bars.length === 0 ? run.status : 'waiting',
      note,
    })
  return bars
}

/** The outages, behind everything. */
export const shadesOf = (outages: readonly OutageInput[], say: Say): readonly RibbonShade[] =>
  outages.map(({ kind, from, to }, index) => ({
    ...{ id: `${index}`, from: Date.parse(from), to: Date.parse(to), label: say(`sim.outage.${kind}`) },
  }))

/** The changes of the clock that the zones of the schedules have in the window. */
export function marksOf({ schedules }: SimulationView): readonly RibbonMark[] {
  const found = new Map<string, RibbonMark>()
  for (const { dst_notes: notes } of schedules)
    for (const { at, zone, sentence } of notes)
      found.set(`${at} ${zone}`, { id: `${at} ${zone}`, at: Date.parse(at), label: sentence })
  return [...found.values()]
}
