import type { Row } from './row.ts'
import { FLOW } from './seed-004/flow.ts'
import { HARDENING } from './seed-004/hardening.ts'
import { OBSERVING } from './seed-004/observing.ts'
import { QUEUE } from './seed-004/queue.ts'
import { RUNNING } from './seed-004/running.ts'

/** Seed 004: queued browser tasks. */
export const SEED_004: readonly Row[] = [...FLOW, ...QUEUE, ...RUNNING, ...OBSERVING, ...HARDENING]
