import type { Row } from './row.ts'
import { API } from './seed-002/api.ts'
import { CONSOLE } from './seed-002/console.ts'
import { PLANE } from './seed-002/plane.ts'
import { POLICIES } from './seed-002/policies.ts'
import { PROTOCOL } from './seed-002/protocol.ts'
import { RUN_FIELDS } from './seed-002/run-fields.ts'
import { SCHEDULE_FIELDS } from './seed-002/schedule-fields.ts'
import { WATCHING } from './seed-002/watching.ts'

/** Seed 002: schedules in the control plane. */
export const SEED_002: readonly Row[] = [
  ...[...PLANE, ...SCHEDULE_FIELDS, ...RUN_FIELDS, ...API],
  ...[...POLICIES, ...PROTOCOL, ...CONSOLE, ...WATCHING],
]
