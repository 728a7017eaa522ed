import type { RunId } from '../../domain/ids.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import type { Desk } from '../desk/desk.ts'
import type { RunRow } from '../../store/run-row.ts'

/** Payloads of an org take no more than this in memory, by the length of their JSON. */
const MAX_BYTES = 32 * 1_024 * 1_024
/** What an object costs beside its text. */
const OVERHEAD = 256
/** Once there is no room, this share of it is made free at once: a walk from the front of a map passes what has left. */
const KEPT_SHARE = 7 / 8

/**
 * The payloads that pending runs have in memory, oldest first, and what they take. Runs that start soon after they were
 * created need no read; the oldest give way, and are read by the hundred when their turn comes.
 */
export interface KeptPayloads {
  readonly sizes: Map<RunId, number>
  bytes: number
}

export const noPayloads = (): KeptPayloads => ({ sizes: new Map(), bytes: 0 })

/** Whether more can be kept without letting others go. */
export const hasRoom = ({ bytes }: KeptPayloads): boolean => bytes < KEPT_SHARE * MAX_BYTES

interface Keeping {
  readonly desk: Desk
  readonly payloads: KeptPayloads
}

/** Counts the payload of a run, and lets go of the oldest when there is no more room. A run that has ended needs none. */
export function keepPayload({ desk, payloads }: Keeping, run: RunRow): void {
  releasePayload(payloads, run.id)
  // What arrives is merged into it until its window closes, so it stays.
  if (run.debouncing || run.payload === undefined) return
  const size = OVERHEAD + sizeOf(run.payload)
  if (desk.runs.get(run.id) !== run || size > MAX_BYTES) {
    run.payload = undefined
    return
  }
  payloads.sizes.set(run.id, size)
  payloads.bytes += size
  if (payloads.bytes > MAX_BYTES) letGoOfOldest(desk, payloads)
}

/** Keeps what the turn has given runs to do, as far as there is room. */
export function keepPayloads(memory: Keeping): void {
  const { made, changed } = memory.desk.changes
  for (const run of made) keepPayload(memory, run)
  // A window has closed: from now on its run counts like any other.
  for (const run of changed)
    if (run.payload !== undefined && !isTerminal(run.state) && !memory.payloads.sizes.has(run.id))
      keepPayload(memory, run)
}

/** The run is pending no more, or its payload is not in memory any more. */
export function releasePayload(payloads: KeptPayloads, id: RunId): void {
  const size = payloads.sizes.get(id)
  if (size === undefined) return
  payloads.sizes.delete(id)
  payloads.bytes -= size
}

function letGoOfOldest(desk: Desk, payloads: KeptPayloads): void {
  for (const id of payloads.sizes.keys()) {
    if (hasRoom(payloads)) return
    releasePayload(payloads, id)
    const run = desk.runs.get(id)
    if (run !== undefined) run.payload = undefined
  }
}

const sizeOf = (payload: unknown): number => (JSON.stringify(payload) as string | undefined)?.length ?? 0
