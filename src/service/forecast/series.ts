import { setImmediate as afterOthers } from 'node:timers/promises'
import { stretchesBetween, type ForecastDay } from '../../core/forecast/days.ts'
import type { RunsPerDay } from '../../core/forecast/runs-per-day.ts'
import type { Instant } from '../../core/instant.ts'
import type { Zone } from '../../core/time/zone.ts'
import { computeCounts, type Computing } from '../compute/compute.ts'
import type { Source } from './source.ts'

/** Others get their turn after so many days of sources were looked at: about two milliseconds of work. */
const DAYS_IN_A_SLICE = 300

/** Lets others have their turn each time a slice of work is done. */
export function slicing(): (days: number) => Promise<void> {
  let done = 0
  return async (days) => {
    done += days
    if (done < DAYS_IN_A_SLICE) return
    done = 0
    await afterOthers()
  }
}

/** From when to when. */
export interface Window {
  readonly from: Instant
  readonly to: Instant
}

/** Stretches of time, each inside one day of every zone that matters, and how many runs each source is to make in them. */
export interface Series {
  readonly stretches: readonly ForecastDay[]
  readonly runs: ReadonlyMap<Source, RunsPerDay>
}

/** Counts what the sources make in a window, in slices: requests and runs go on in between. */
export async function countRuns(
  computing: Computing,
  sources: readonly Source[],
  { window, zone, others }: { readonly window: Window; readonly zone: Zone; readonly others: readonly Zone[] },
): Promise<Series> {
  const stretches = stretchesBetween(zone, others, window)
  const counted = await countRules(computing, sources, stretches)
  const runs = new Map<Source, RunsPerDay>()
  const breathe = slicing()
  for (const source of sources) {
    runs.set(source, counted.get(source) ?? source.runsOn(stretches))
    await breathe(stretches.length)
  }
  return { stretches, runs }
}

/** So many rules are counted at once elsewhere, so that other jobs of the org come in between. */
const RULES_AT_ONCE = 200

async function countRules(
  computing: Computing,
  sources: readonly Source[],
  days: readonly ForecastDay[],
): Promise<ReadonlyMap<Source, RunsPerDay>> {
  const counted = new Map<Source, RunsPerDay>()
  const rules = sources.flatMap((source) => (source.rule === undefined ? [] : [{ source, rule: source.rule }]))
  for (let from = 0; from < rules.length; from += RULES_AT_ONCE) {
    const some = rules.slice(from, from + RULES_AT_ONCE)
    const plans = some.map(({ rule }) => rule)
    const runs = await computeCounts(computing, plans, days)
    for (const [place, { source }] of some.entries()) counted.set(source, runs[place] ?? [])
  }
  return counted
}
