import type { Random } from '../simulation/random.ts'

/** What is done to the nodes and to the server. */
export const FAULT_KINDS = ['kill', 'stop_short', 'stop_long', 'cut', 'restart'] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

export const FAULT_NAMES: Record<FaultKind, string> = {
  kill: 'kill -9',
  stop_short: 'SIGSTOP shorter than the lease',
  stop_long: 'SIGSTOP longer than the lease',
  cut: 'pg_terminate_backend',
  restart: 'server restart',
}

export interface PlannedFault {
  readonly kind: FaultKind
  /** Which node; of no meaning for a restart. */
  readonly slot: number
  /** Quiet before it. */
  readonly pauseMs: number
  /** How long the node or the server is away. */
  readonly lastsMs: number
  /** A stop in the middle of starting work, where it hurts most; else wherever it finds the node. */
  readonly amid: boolean
  /** Happens to another node while this one lasts. */
  readonly meanwhile: PlannedFault | null
}

/** A fault that was done. */
export interface FaultRecord {
  readonly kind: FaultKind
  readonly process: string | null
  readonly from: number
  readonly until: number
}

export interface FaultSettings {
  readonly slots: number
  readonly leaseMs: number
}

/**
 * Faults without end, the same ones for the same seed. They come in rounds that hold every kind once, so that no kind
 * is left out; while a node is stopped for long, something may happen to a second one, never to the third.
 */
export function* planFaults(random: Random, settings: FaultSettings): Generator<PlannedFault, never> {
  for (;;) for (const kind of shuffled(random, FAULT_KINDS)) yield planFault(random, kind, settings)
}

function planFault(random: Random, kind: FaultKind, settings: FaultSettings): PlannedFault {
  const slot = random.int(0, settings.slots - 1)
  const fault = {
    kind,
    slot,
    pauseMs: random.int(300, 1_800),
    lastsMs: durationOf(random, kind, settings.leaseMs),
    amid: kind === 'stop_long' && random.chance(0.5),
    meanwhile: null,
  }
  if (kind !== 'stop_long' || settings.slots < 3 || !random.chance(0.5)) return fault
  const other = (slot + random.int(1, settings.slots - 1)) % settings.slots
  const meanwhile = random.one(['kill', 'cut'] as const)
  return {
    ...fault,
    meanwhile: {
      kind: meanwhile,
      slot: other,
      pauseMs: random.int(200, 1_500),
      lastsMs: durationOf(random, meanwhile, settings.leaseMs),
      amid: false,
      meanwhile: null,
    },
  }
}

function durationOf(random: Random, kind: FaultKind, leaseMs: number): number {
  switch (kind) {
    case 'kill':
      return random.int(0, 1_500)
    case 'stop_short':
      return random.int(300, Math.max(300, leaseMs - 1_500))
    case 'stop_long':
      return leaseMs + random.int(800, 2_500)
    case 'cut':
      return 0
    case 'restart':
      // Often longer than a second, so that occurrences are missed.
      return random.int(0, 2_200)
  }
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

/** Whoever can do harm. Each answers, when it is over, whom it hit. */
export interface Hands {
  readonly kill: (slot: number, awayMs: number) => Promise<string>
  readonly stop: (slot: number, lastsMs: number, amid: boolean) => Promise<string>
  /** Null when there was no connection to cut. */
  readonly cut: (slot: number) => Promise<string | null>
  readonly restart: (awayMs: number) => Promise<void>
}

export interface Driving {
  readonly hands: Hands
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
  /** No fault begins that would last beyond this. */
  readonly until: number
  readonly tell: (fault: FaultRecord) => void
}

/** Does one fault after another until the time is over. */
export async function driveFaults(
  plan: Iterator<PlannedFault, never>,
  driving: Driving,
): Promise<readonly FaultRecord[]> {
  const done: FaultRecord[] = []
  for (;;) {
    const fault = plan.next().value
    if (driving.now() + fault.pauseMs + fault.lastsMs > driving.until) return done
    await driving.sleep(fault.pauseMs)
    const other = fault.meanwhile
    const records = await Promise.all([
      doFault(fault, driving),
      ...(other === null ? [] : [driving.sleep(other.pauseMs).then(() => doFault(other, driving))]),
    ])
    for (const record of records) {
      if (record === null) continue
      done.push(record)
      driving.tell(record)
    }
  }
}

async function doFault(fault: PlannedFault, { hands, now }: Driving): Promise<FaultRecord | null> {
  const { kind, slot, lastsMs } = fault
  const from = now()
  const record = (process: string | null): FaultRecord => ({ kind, process, from, until: now() })
  switch (kind) {
    case 'kill':
      return record(await hands.kill(slot, lastsMs))
    case 'stop_short':
    case 'stop_long':
      return record(await hands.stop(slot, lastsMs, fault.amid))
    case 'cut': {
      const hit = await hands.cut(slot)
      return hit === null ? null : record(hit)
    }
    case 'restart':
      await hands.restart(lastsMs)
      return record(null)
  }
}

/** How many there were of each kind. */
export function countFaults(faults: readonly FaultRecord[]): Record<FaultKind, number> {
  const counts: Record<FaultKind, number> = { kill: 0, stop_short: 0, stop_long: 0, cut: 0, restart: 0 }
  for (const { kind } of faults) counts[kind] += 1
  return counts
}
