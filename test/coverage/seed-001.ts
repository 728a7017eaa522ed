import type { Row } from './row.ts'
import { HEARTBEAT_SETTINGS, HEARTBEAT_STEPS } from './seed-001/heartbeats.ts'
import { JOBS, LANES, SESSIONS } from './seed-001/shared.ts'

/** The same gateway at an earlier time, with heartbeats. */
export const SEED_001: readonly Row[] = [...LANES, ...SESSIONS, ...JOBS, ...HEARTBEAT_STEPS, ...HEARTBEAT_SETTINGS]
