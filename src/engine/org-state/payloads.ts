import type { RunId } from '../../domain/ids.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import type { OrgState } from './org-state.ts'
import type { RunRow } from '../../features/runs/store.ts'

/** Maximum memory for the payloads of an org, by the length of their JSON. */
const MAX_BYTES = 32 * 1_024 * 1_024
/** Memory of an object beyond its text. */
const OVERHEAD = 256
/**
 * When full, payloads are evicted down to this share at once, because a walk from the front of a map passes the deleted
 * entries.
 */
const KEPT_FRACTION = 7 / 8

/**
 * The payloads of pending runs that are in memory, oldest first, with their sizes. Runs that start soon after their
 * creation need no read; the oldest are evicted, and read by the hundred when they start.
 */
export interface KeptPayloads {
  readonly sizes: Map<RunId, number>
  bytes: number
}

export const noPayloads = (): KeptPayloads => ({ sizes: new Map(), bytes: 0 })

/** Whether there is room for another payload without eviction. */
export const hasPayloadRoom = ({ bytes }: KeptPayloads): boolean => bytes < KEPT_FRACTION * MAX_BYTES

interface PayloadOwner {
  readonly state: OrgState
  readonly payloads: KeptPayloads
}

/** Keeps the payload of a run, evicting the oldest ones when full. A run that has ended needs none. */
export function keepPayload({ state, payloads }: PayloadOwner, run: RunRow): void {
  releasePayload(payloads, run.id)
  // Messages are merged into it until its debounce window closes, so it stays in memory.
  if (run.debouncing || run.payload === undefined) return
  const size = OVERHEAD + payloadSize(run.payload)
  if (state.runs.get(run.id) !== run || size > MAX_BYTES) {
    run.payload = undefined
    return
  }
  payloads.sizes.set(run.id, size)
  payloads.bytes += size
  if (payloads.bytes > MAX_BYTES) evictOldestPayloads(state, payloads)
}

/** Keeps the payloads of the transaction's runs, as far as there is room. */
export function keepPayloads(org: PayloadOwner): void {
  const { created, changed } = org.state.changes
  for (const run of created) keepPayload(org, run)
  // A debounce window has closed: its run counts like any other from now on.
  for (const run of changed)
    if (run.payload !== undefined && !isTerminal(run.state) && !org.payloads.sizes.has(run.id)) keepPayload(org, run)
}

/** The run is no longer pending, or its payload has left memory. */
export function releasePayload(payloads: KeptPayloads, id: RunId): void {
  const size = payloads.sizes.get(id)
  if (size === undefined) return
  payloads.sizes.delete(id)
  payloads.bytes -= size
}

function evictOldestPayloads(state: OrgState, payloads: KeptPayloads): void {
  for (const id of payloads.sizes.keys()) {
    if (hasPayloadRoom(payloads)) return
    releasePayload(payloads, id)
    const run = state.runs.get(id)
    if (run !== undefined) run.payload = undefined
  }
}

const payloadSize = (payload: unknown): number => (JSON.stringify(payload) as string | undefined)?.length ?? 0
