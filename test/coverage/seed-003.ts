import type { Row } from './row.ts'
import { ENGINE } from './seed-003/engine.ts'
import { EXECUTION } from './seed-003/execution.ts'
import { FIELDS } from './seed-003/fields.ts'
import { SAMPLE_ROWS } from './seed-003/sample.ts'

/** Seed 003: policies of a cron engine. */
export const SEED_003: readonly Row[] = [...FIELDS, ...ENGINE, ...EXECUTION, ...SAMPLE_ROWS]
