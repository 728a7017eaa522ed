import { z } from 'zod'
import { MAX_TIMEOUT_SECONDS } from '../domain/run/timeouts.ts'
import { moment, pageOf } from '../api/common.ts'
import { text, textLike, whole, zoneName } from '../api/fields.ts'
import { named, type Shape } from './shape.ts'

const name = text(1, 200)
const limit = whole(1, 1_000_000_000).nullish()

const orgFields = {
  name: name.describe('Name of the org.'),
  default_timezone: zoneName
    .optional()
    .describe("Time zone of its schedules, budgets and days. Default: the deployment's."),
  max_concurrent: limit.describe('Maximum number of concurrent runs. Null or omitted: no limit.'),
  max_schedules: limit.describe('Maximum number of schedules. Null or omitted: no limit.'),
  runs_per_day: limit.describe('Maximum number of runs per day. Null or omitted: no limit.'),
  max_timeout_seconds: whole(1, MAX_TIMEOUT_SECONDS)
    .nullish()
    .describe('Maximum `timeout_seconds` of schedules and agents, and of any attempt.'),
}

export const orgInput = named(
  'OrgInput',
  z.strictObject({
    id: textLike(/^[a-z0-9][a-z0-9_-]{0,62}$/, {
      max: 63,
      message: 'cannot be an id',
      allowed: '1 to 63 small letters, digits, _ -',
    })
      .optional()
      .describe('Short name for paths and settings. Default: generated.'),
    ...orgFields,
    with_key: z.boolean().optional().describe('Also create an owner key, shown once in the answer.'),
  }),
  'A new org.',
)
export type OrgInput = Shape<typeof orgInput>

export const orgPatch = named(
  'OrgPatch',
  z.strictObject({
    ...orgFields,
    name: name.optional().describe('Name of the org.'),
    default_agent_id: text(1, 200).nullish().describe('Default agent.'),
  }),
  'A change of an org.',
)
export type OrgPatch = Shape<typeof orgPatch>

const shownOrg = {
  id: z.string(),
  name: z.string(),
  default_timezone: z.string(),
  default_agent_id: z.string().nullable(),
  max_concurrent: z.int().nullable(),
  max_schedules: z.int().nullable(),
  runs_per_day: z.int().nullable(),
  max_timeout_seconds: z.int().nullable(),
  created_at: moment,
}

export const org = named('Org', z.strictObject(shownOrg), 'An org.')
export type OrgView = Shape<typeof org>

export const createdOrg = named(
  'CreatedOrg',
  z.strictObject({
    ...shownOrg,
    first_key: z
      .strictObject({ id: z.string(), key: z.string().nullable() })
      .optional()
      .describe('Its first key, if requested. `key` is null when the request was a repetition.'),
  }),
  'An org that was just created.',
)
export type CreatedOrg = Shape<typeof createdOrg>

export const orgPage = pageOf('OrgPage', org)
