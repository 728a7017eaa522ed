import type { Row } from './row.ts'

/** The same gateway at an earlier time, with heartbeats. */
export const SEED_001: readonly Row[] = []
