import { z } from 'zod'
import {
  DEFAULT_TIMEOUT_SECONDS,
  MOST_TIMEOUT_SECONDS,
  ON_ERRORS,
  PROBE_KINDS,
  PROBE_METHODS,
} from '../core/probe/probe.ts'
import { PROBE_ANSWERS } from '../core/probe/verdict.ts'
import { anyJson, moment } from './common.ts'
import { named, type Shape } from './shape.ts'

export const probeInput = named(
  'Probe',
  z.strictObject({
    kind: z.enum(PROBE_KINDS),
    url: z.string().nullish().describe('`http`: where to ask.'),
    method: z.enum(PROBE_METHODS).nullish(),
    headers: z.record(z.string(), z.string()).nullish(),
    body: z.string().nullish(),
    program: z.string().nullish().describe('`command`: what to start, among what the operator permits.'),
    args: z.array(z.string()).nullish(),
    directory: z.string().nullish(),
    of: z
      .strictObject({ schedule_id: z.string().nullish(), session: z.string().nullish() })
      .nullish()
      .describe('`state`: whose; the schedule itself unless given.'),
    when: anyJson
      .optional()
      .describe('What has to hold of the answer: `{path, op, value}`, `{all}`, `{any}` or `{not}`.'),
    changed: z
      .union([z.boolean(), z.string()])
      .nullish()
      .describe('Yes only when the answer, or what stands at a JSON pointer of it, has changed.'),
    on_error: z
      .enum(ON_ERRORS)
      .nullish()
      .describe('What it means when nobody could be asked: `run` (default) wakes the agent, `fail` ends the attempt.'),
    timeout_seconds: z.int().min(1).max(MOST_TIMEOUT_SECONDS).nullish(),
  }),
  'What is asked before the agent is woken: `http` (`url`, `method`, `headers`, `body`), `command` (`program`, `args`, ' +
    '`directory`, where the operator lists it) or `state` (`of`). `when` is a condition on the answer: `{path, op, value}`, ' +
    '`{all: […]}`, `{any: […]}` or `{not: …}`. `changed` lets only what has changed wake the agent. ' +
    `It is given ${DEFAULT_TIMEOUT_SECONDS} seconds unless \`timeout_seconds\` says otherwise.`,
)
export type ProbeInput = Shape<typeof probeInput>

export const probeTryInput = named(
  'ProbeTryInput',
  z.strictObject({
    probe: probeInput.nullish().describe('Left out: the one that the schedule has.'),
    schedule_id: z
      .string()
      .min(1)
      .max(200)
      .nullish()
      .describe('For which schedule it is asked; nothing is put on record there.'),
  }),
  'A question that somebody wants to try before it is kept.',
)
export type ProbeTryInput = Shape<typeof probeTryInput>

export const probeTry = named(
  'ProbeTry',
  z.strictObject({
    answer: z.enum(PROBE_ANSWERS),
    wakes: z.boolean().describe('Whether the agent would be woken.'),
    probe: z.string().describe('The probe in words.'),
    asked: z.string().describe('What was asked, in few words.'),
    sentence: z.string().describe('What was found, in words.'),
    seen: z.string().describe('What was looked at, cut.'),
    duration_ms: z.int(),
  }),
  'What a probe would decide now.',
)
export type ProbeTryView = Shape<typeof probeTry>

export const probeCounts = named(
  'ProbeCounts',
  z.strictObject({
    asked: z.int(),
    saved: z.int().describe('How often it said no, so that nobody was woken.'),
    errors: z.int(),
    last_answer: z.enum(PROBE_ANSWERS),
    last_sentence: z.string(),
    last_at: moment,
    last_run_id: z.string(),
    saved_tokens: z
      .number()
      .nullable()
      .describe(
        'An estimate: what was saved, times what the last runs that woke the agent used. Null: none said what it used.',
      ),
    saved_cost: z.number().nullable(),
  }),
  'How often a probe was asked, and what it has saved.',
)
export type ProbeCountsView = Shape<typeof probeCounts>

export const probeAnswer = named(
  'ProbeAnswer',
  z.strictObject({
    answer: z.enum(PROBE_ANSWERS),
    at: moment,
    asked: z.string(),
    sentence: z.string(),
    seen: z.string(),
  }),
  'What was asked before a run woke its agent, and what was seen.',
)
export type ProbeAnswerView = Shape<typeof probeAnswer>
