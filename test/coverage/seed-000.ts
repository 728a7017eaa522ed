import type { Row } from './row.ts'
import { GATEWAY } from './seed-000/gateway.ts'
import { JOBS } from './seed-000/jobs.ts'
import { LANES } from './seed-000/lanes.ts'
import { QUEUES } from './seed-000/queues.ts'
import { RETRIES } from './seed-000/retries.ts'
import { SESSIONS } from './seed-000/sessions.ts'
import { STOPS } from './seed-000/stops.ts'
import { STORAGE } from './seed-000/storage.ts'

/** GoClaw: lanes, sessions and cron jobs. */
export const SEED_000: readonly Row[] = [
  ...STORAGE,
  ...LANES,
  ...SESSIONS,
  ...QUEUES,
  ...STOPS,
  ...JOBS,
  ...RETRIES,
  ...GATEWAY,
]
