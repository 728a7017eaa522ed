import type { Random } from '../simulation/random.ts'
import { BRIEF_KINDS, durationOf, FAULT_KINDS, LONG_KINDS, type FaultKind } from './fault-kinds.ts'

export interface PlannedFault {
  readonly kind: FaultKind
  /** Which node; of no meaning for what hits everybody. */
  readonly slot: number
  /** Quiet before it. */
  readonly pauseMs: number
  /** How long the node or the server is away. */
  readonly lastsMs: number
  /** For whatever else about it is left to chance. */
  readonly seed: number
  /** Happens to another node while this one lasts. */
  readonly meanwhile: PlannedFault | null
  /** The last one of its round. */
  readonly last: boolean
}

/** Transactions that a failover lost: those between the copy and the end of the server it was made of. */
export interface LostTail {
  readonly from: number
  readonly until: number
  /** When the copy answered. */
  readonly back: number
}

/** A fault that was done. */
export interface FaultRecord {
  readonly kind: FaultKind
  readonly process: string | null
  readonly from: number
  readonly until: number
  /** What exactly was done, for whoever reads along. */
  readonly how?: string
  readonly tail?: LostTail
}

export interface FaultSettings {
  readonly slots: number
  readonly leaseMs: number
  /** Left out: all of them. */
  readonly kinds?: readonly FaultKind[]
}

/**
 * Faults without end, the same ones for the same seed. They come in rounds that hold every kind once, so that no kind
 * is left out; while a node is away for long, something brief happens to a second one, never to the third.
 */
export function* planFaults(random: Random, settings: FaultSettings): Generator<PlannedFault, never> {
  for (;;) yield* planRound(random, settings)
}

function planRound(random: Random, settings: FaultSettings): readonly PlannedFault[] {
  const left = [...shuffled(random, settings.kinds ?? FAULT_KINDS)]
  const round: PlannedFault[] = []
  for (let kind = left.shift(); kind !== undefined; kind = left.shift()) {
    const fault = planFault(random, kind, settings)
    const brief = left.findIndex((other) => BRIEF_KINDS.has(other))
    const [meanwhile] = LONG_KINDS.has(kind) && settings.slots >= 3 && brief !== -1 ? left.splice(brief, 1) : []
    round.push(
      meanwhile === undefined ? fault : { ...fault, meanwhile: planMeanwhile(random, meanwhile, { settings, fault }) },
    )
  }
  return round.map((fault, index) => ({ ...fault, last: index === round.length - 1 }))
}

function planFault(random: Random, kind: FaultKind, settings: FaultSettings): PlannedFault {
  return {
    kind,
    slot: random.int(0, settings.slots - 1),
    pauseMs: random.int(200, 1_000),
    lastsMs: durationOf(random, kind, settings.leaseMs),
    seed: random.int(0, 1_000_000),
    meanwhile: null,
    last: false,
  }
}

function planMeanwhile(
  random: Random,
  kind: FaultKind,
  { settings, fault }: { readonly settings: FaultSettings; readonly fault: PlannedFault },
): PlannedFault {
  const slot = (fault.slot + random.int(1, settings.slots - 1)) % settings.slots
  return { ...planFault(random, kind, settings), slot }
}

function shuffled<T>(random: Random, items: readonly T[]): readonly T[] {
  const left = [...items]
  for (let last = left.length - 1; last > 0; last -= 1) {
    const other = random.int(0, last)
    const item = left[last]
    const swapped = left[other]
    if (item === undefined || swapped === undefined) continue
    left[last] = swapped
    left[other] = item
  }
  return left
}

/** Whom a fault hit, and how. */
export interface Hit {
  /** Null: everybody. */
  readonly process: string | null
  readonly how?: string
  readonly tail?: LostTail
}

/** Does a fault and answers when it is over; null when there was nobody to hit. */
export type Hand = (fault: PlannedFault) => Promise<Hit | null>

/** Whoever can do harm. */
export type Hands = Readonly<Record<FaultKind, Hand>>

export interface Driving {
  readonly hands: Hands
  readonly slots: number
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
  /** No fault begins that would last beyond this, once every kind has been there. */
  readonly until: number
  readonly tell: (fault: FaultRecord) => void
}

/** Does one fault after another until the time is over and the first round is. */
export async function driveFaults(
  plan: Iterator<PlannedFault, never>,
  driving: Driving,
): Promise<readonly FaultRecord[]> {
  const done: FaultRecord[] = []
  let rounds = 0
  for (;;) {
    const fault = plan.next().value
    if (rounds > 0 && driving.now() + fault.pauseMs + fault.lastsMs > driving.until) return done
    await driving.sleep(fault.pauseMs)
    const other = fault.meanwhile
    const records = await Promise.all([
      doFault(fault, driving, []),
      ...(other === null ? [] : [driving.sleep(other.pauseMs).then(() => doFault(other, driving, [fault.slot]))]),
    ])
    for (const record of records) {
      if (record === null) continue
      done.push(record)
      driving.tell(record)
    }
    if (fault.last) rounds += 1
  }
}

/** Whoever is just coming back may have nothing to hit; then it is another one's turn, except for those already hurt. */
async function doFault(
  fault: PlannedFault,
  { hands, slots, now }: Driving,
  spared: readonly number[],
): Promise<FaultRecord | null> {
  for (let turn = 0; turn < slots; turn += 1) {
    const slot = (fault.slot + turn) % slots
    if (spared.includes(slot)) continue
    const from = now()
    const hit = await hands[fault.kind]({ ...fault, slot })
    if (hit !== null) return { kind: fault.kind, ...hit, from, until: now() }
  }
  return null
}

/** How many there were of each kind. */
export function countFaults(faults: readonly FaultRecord[]): Record<FaultKind, number> {
  const counts = Object.fromEntries(FAULT_KINDS.map((kind) => [kind, 0])) as Record<FaultKind, number>
  for (const { kind } of faults) counts[kind] += 1
  return counts
}
