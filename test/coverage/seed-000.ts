import type { Row } from './row.ts'
import { LANES } from './seed-000/lanes.ts'
import { STORAGE } from './seed-000/storage.ts'

/** GoClaw: lanes, sessions and cron jobs. */
export const SEED_000: readonly Row[] = [...STORAGE, ...LANES]
