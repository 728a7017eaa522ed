import { z } from 'zod'
import { MAX_TIMEOUT_SECONDS } from '../core/run/timeouts.ts'
import { moment, pageOf } from './common.ts'
import { named, type Shape } from './shape.ts'

const name = z.string().min(1).max(200)
const limit = z.int().min(1).nullish()

const orgFields = {
  name,
  default_timezone: z
    .string()
    .min(1)
    .optional()
    .describe("The zone of its schedules, budgets and days; the deployment's unless given."),
  max_concurrent: limit.describe('Limits; null or left out: none.'),
  max_schedules: limit,
  runs_per_day: limit,
  max_timeout_seconds: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_SECONDS)
    .nullish()
    .describe(
      'The longest `timeout_seconds` that a schedule or agent may state, and the longest that an attempt takes.',
    ),
}

export const orgInput = named(
  'OrgInput',
  z.strictObject({
    ...orgFields,
    id: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('A short name for paths and settings; made when it is left out.'),
    with_key: z
      .boolean()
      .optional()
      .describe('Also create an owner key of the org, which is shown once in the answer.'),
  }),
  'A new org.',
)
export type OrgInput = Shape<typeof orgInput>

export const orgPatch = named(
  'OrgPatch',
  z.strictObject({
    ...orgFields,
    name: name.optional(),
    default_agent_id: z.string().min(1).max(200).nullish().describe('Whom work wakes that names nobody.'),
  }),
  'What may change about an org.',
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

export const org = named('Org', z.strictObject(shownOrg), 'An org as every surface shows it.')
export type OrgView = Shape<typeof org>

export const createdOrg = named(
  'CreatedOrg',
  z.strictObject({
    ...shownOrg,
    first_key: z
      .strictObject({ id: z.string(), key: z.string().nullable() })
      .optional()
      .describe(
        'Its first key, when it was asked for. `key` is null in the answer to a repeated request: the text is not kept.',
      ),
  }),
  'An org that was just created.',
)
export type CreatedOrg = Shape<typeof createdOrg>

export const orgPage = pageOf('OrgPage', org)
