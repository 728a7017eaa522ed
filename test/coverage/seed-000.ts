import type { Row } from './row.ts'
import { LANES } from './seed-000/lanes.ts'
import { QUEUES } from './seed-000/queues.ts'
import { SESSIONS } from './seed-000/sessions.ts'
import { STOPS } from './seed-000/stops.ts'
import { STORAGE } from './seed-000/storage.ts'

/** GoClaw: lanes, sessions and cron jobs. */
export const SEED_000: readonly Row[] = [...STORAGE, ...LANES, ...SESSIONS, ...QUEUES, ...STOPS]
