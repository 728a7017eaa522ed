import { z } from 'zod'
import { RUN_STATES } from '../../core/run/run-machine.ts'
import {
  FINDING_KINDS,
  LINK_KINDS,
  STEP_STAGES,
  STEP_STATES,
  ZONE_SOURCES,
  type Explained,
  type ExplainAction,
  type ExplainAsked,
  type ExplainFinding,
  type ExplainLink,
  type ExplainNext,
  type ExplainPolicy,
  type ExplainQuery,
  type ExplainSearch,
  type ExplainStep,
  type Explanation,
  type OccurrenceExplanation,
  type PlannedMoment,
  type RunExplanation,
} from '../explain.ts'
import { moment, oneOf, why, whyFields } from './common.ts'
import { named, shaped } from './shaped.ts'

const link: z.ZodType<ExplainLink> = named(
  'ExplainLink',
  shaped<ExplainLink>()({
    kind: oneOf(LINK_KINDS),
    id: z.string(),
    role: z.string(),
    api: z.string(),
    console: z.string(),
  }),
  'Something that an explanation speaks of, and where it is to be looked at.',
)

const policy: z.ZodType<ExplainPolicy> = named(
  'ExplainPolicy',
  shaped<ExplainPolicy>()({ name: z.string(), value: z.string().nullable(), documentation: z.string() }),
  'The policy, limit or gate that spoke, with its value and where it is documented.',
)

const step: z.ZodType<ExplainStep> = named(
  'ExplainStep',
  shaped<ExplainStep>()({
    stage: oneOf(STEP_STAGES),
    name: z.string(),
    state: oneOf(STEP_STATES),
    sentence: z.string().nullable(),
  }),
  'One question on the way, in the order in which the engine asks them.',
)

const action = shaped<ExplainAction>()({
  action: z.string(),
  sentence: z.string(),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: z.string(),
  command: z.string(),
})

const next: z.ZodType<ExplainNext> = named(
  'ExplainNext',
  shaped<ExplainNext>()({ sentence: z.string(), actions: z.array(action) }),
  'What happens next by itself, and what one can do about it.',
)

const explained = {
  sentence: z.string(),
  policy,
  links: z.array(link),
  steps: z.array(step),
  next,
} satisfies { readonly [Name in keyof Explained]: z.ZodType<Explained[Name]> }

export const runExplanation: z.ZodType<RunExplanation> = named(
  'RunExplanation',
  shaped<RunExplanation>()({
    ...{ run_id: z.string(), status: oneOf(RUN_STATES), decision: why, held_decision: why.nullable() },
    ...whyFields,
    ...explained,
  }),
)

export const occurrenceExplanation: z.ZodType<OccurrenceExplanation> = named(
  'OccurrenceExplanation',
  shaped<OccurrenceExplanation>()({
    at: moment,
    run_id: z.string().nullable(),
    status: z.string().nullable(),
    reason: z.string(),
    rule: z.string(),
    evidence: z.record(z.string(), z.unknown()),
    ...explained,
  }),
)

const finding: z.ZodType<ExplainFinding> = named(
  'ExplainFinding',
  shaped<ExplainFinding>()({
    kind: oneOf(FINDING_KINDS),
    about: z.string().nullable(),
    status: z.string().nullable(),
    at: moment.nullable(),
    ...whyFields,
    ...{ sentence: z.string(), policy, links: z.array(link) },
  }),
)

const asked = shaped<ExplainAsked>()({
  id: z.string().nullable(),
  at: moment.nullable(),
  local: z.string().nullable(),
  timezone: z.string().nullable(),
  timezone_from: oneOf(ZONE_SOURCES).nullable(),
  from: moment.nullable(),
  to: moment.nullable(),
})

const planned = shaped<PlannedMoment>()({ schedule_id: z.string(), name: z.string(), at: moment })

const search = shaped<ExplainSearch>()({
  schedules: z.int(),
  schedules_in_all: z.int(),
  runs: z.int(),
  complete: z.boolean(),
})

const nearest = shaped<NonNullable<Explanation['nearest']>>()({ before: planned.nullable(), after: planned.nullable() })

export const explanation: z.ZodType<Explanation> = named(
  'Explanation',
  shaped<Explanation>()({
    ...{ asked, sentence: z.string(), findings: z.array(finding), steps: z.array(step) },
    ...{ next: next.nullable(), nearest: nearest.nullable(), looked_at: search.nullable() },
  }),
  'The answer to "why?", most telling first.',
)

const word = z.string().min(1).max(512)

/** What is to be explained. Exactly one of `id` and `at` is needed; which, the service says. */
export const explainQuery = shaped<ExplainQuery>()({
  id: word.optional(),
  at: word.optional(),
  schedule_id: word.optional(),
  agent_id: word.optional(),
  session: word.optional(),
  within_seconds: z.int().min(1).max(86_400).optional(),
})
