import type { SimulatedDepth } from '../../contract/simulation.ts'
import { fromMicros } from '../../core/budget/budget.ts'
import { formatInstant, instant, type Instant } from '../../core/instant.ts'
import type { Stretch } from './plan.ts'

/** How full it was over the window, in stretches of equal length. */
export interface Levels {
  readonly note: (now: Instant, level: { readonly pending: number; readonly inFlight: number }) => void
  readonly spend: (now: Instant, tokens: number, costMicros: number) => void
  readonly view: () => readonly SimulatedDepth[]
}

/** As many stretches as a picture can show. */
const STRETCHES = 240

/** Levels of a window in which nothing has happened yet. */
export function createLevels({ from, to }: Stretch): Levels {
  const count = Math.min(STRETCHES, Math.max(1, to - from))
  const lengthMs = (to - from) / count
  const waiting = new Int32Array(count)
  const running = new Int32Array(count)
  const tokens = new Float64Array(count)
  const micros = new Float64Array(count)
  let [last, lastWaiting, lastRunning] = [0, 0, 0]
  const placeOf = (at: Instant): number => Math.max(0, Math.min(count - 1, Math.floor((at - from) / lengthMs)))
  // Until something changes it stays as full as it was.
  const carryTo = (place: number): void => {
    for (let next = last + 1; next <= place; next += 1) {
      waiting[next] = lastWaiting
      running[next] = lastRunning
    }
    if (place > last) last = place
  }
  return {
    note: (now, { pending, inFlight }) => {
      const place = placeOf(now)
      carryTo(place)
      lastWaiting = pending - inFlight
      lastRunning = inFlight
      if (lastWaiting > (waiting[place] ?? 0)) waiting[place] = lastWaiting
      if (lastRunning > (running[place] ?? 0)) running[place] = lastRunning
    },
    spend: (now, used, costMicros) => {
      const place = placeOf(now)
      tokens[place] = (tokens[place] ?? 0) + used
      micros[place] = (micros[place] ?? 0) + costMicros
    },
    view: () => {
      carryTo(count - 1)
      return Array.from({ length: count }, (_, place) => ({
        at: formatInstant(instant(Math.round(from + place * lengthMs))),
        waiting: waiting[place] ?? 0,
        running: running[place] ?? 0,
        tokens: tokens[place] ?? 0,
        cost: fromMicros(micros[place] ?? 0),
      }))
    },
  }
}
