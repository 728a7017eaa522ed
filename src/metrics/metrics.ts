import type { Meter } from '../engine/meter.ts'
import { collect } from './samples.ts'
import { renderMetrics } from './exposition.ts'
import { observe } from './histogram.ts'
import type { Sources } from './sources.ts'
import { add, countTurn, createTally, type Tally } from './tally.ts'

/** Counts what a node does. */
export interface Counting {
  readonly tally: Tally
  readonly meter: Meter
  /** Somebody was refused. */
  readonly refused: (code: string) => void
}

export function createCounting(counter: () => number): Counting {
  const tally = createTally()
  return {
    tally,
    meter: {
      turn: (kept) => {
        countTurn(tally, kept)
      },
      scanned: (ms) => {
        observe(tally.scans, ms)
        tally.scannedAt = counter()
      },
      delivered: (outcome) => {
        add(tally.deliveries, outcome)
      },
    },
    refused: (code) => {
      add(tally.refusals, code)
    },
  }
}

/** Everything there is to see, as text. */
export const showMetrics = async (sources: Sources): Promise<string> =>
  renderMetrics(await collect(sources), sources.showsUnprefixed())
