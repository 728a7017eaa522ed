import { z } from 'zod'
import {
  DEFAULT_PROBE_TIMEOUT_SECONDS,
  MAX_ARGS,
  MAX_BODY_LENGTH,
  MAX_URL_LENGTH,
  MAX_PROBE_TEXT_LENGTH,
  MAX_PROBE_TIMEOUT_SECONDS,
  ON_ERRORS,
  parseProbeInput,
  PROBE_KINDS,
  PROBE_METHODS,
} from '../../domain/probe/probe.ts'
import { PROBE_ANSWERS } from '../../domain/probe/verdict.ts'
import { anyJson, isoTime } from '../../api/common.ts'
import { named, rule, type Shape, text, integerBetween } from '../../api/fields.ts'

const path = z.string().min(1).max(MAX_PROBE_TEXT_LENGTH)

export const probeInput = named(
  'Probe',
  z
    .strictObject({
      kind: z.enum(PROBE_KINDS),
      url: z.string().min(1).max(MAX_URL_LENGTH).nullish().describe('`http`: the URL to request.'),
      method: z.enum(PROBE_METHODS).nullish(),
      headers: z.record(z.string(), z.string().max(MAX_PROBE_TEXT_LENGTH)).nullish(),
      body: z.string().max(MAX_BODY_LENGTH).nullish(),
      program: path.nullish().describe('`command`: the program to start, one of those the operator allows.'),
      args: z.array(z.string().max(MAX_PROBE_TEXT_LENGTH)).max(MAX_ARGS).nullish(),
      directory: path.nullish(),
      of: z
        .strictObject({
          schedule_id: z.string().min(1).max(200).optional(),
          session: z.string().min(1).max(512).optional(),
        })
        .nullish()
        .describe('`state`: the schedule or session to read. Default: this schedule.'),
      when: anyJson.optional().describe('Condition on the answer: `{path, op, value}`, `{all}`, `{any}` or `{not}`.'),
      changed: z
        .union([z.boolean(), z.string()])
        .nullish()
        .describe('Wake the agent only if the answer, or the value at this JSON pointer, has changed.'),
      on_error: z
        .enum(ON_ERRORS)
        .nullish()
        .describe('If the probe fails: `run` (default) wakes the agent, `fail` ends the attempt.'),
      timeout_seconds: integerBetween(1, MAX_PROBE_TIMEOUT_SECONDS).nullish(),
    })
    .check(rule(parseProbeInput)),
  'A check before the agent is woken: `http` (`url`, `method`, `headers`, `body`), `command` (`program`, `args`, ' +
    '`directory`; a program the operator allows) or `state` (`of`). `when` is a condition on the answer: ' +
    '`{path, op, value}`, `{all: […]}`, `{any: […]}` or `{not: …}`. With `changed`, only a changed answer wakes the ' +
    `agent. \`timeout_seconds\` defaults to ${DEFAULT_PROBE_TIMEOUT_SECONDS}.`,
)
export type ProbeInput = Shape<typeof probeInput>

export const probeTryInput = named(
  'ProbeTryInput',
  z.strictObject({
    probe: probeInput.nullish().describe('Omitted: the probe of the schedule.'),
    schedule_id: text(1, 200).nullish().describe('The schedule to try it for. Nothing is recorded.'),
  }),
  'A probe to try.',
)
export type ProbeTryInput = Shape<typeof probeTryInput>

export const probeTry = named(
  'ProbeTry',
  z.strictObject({
    answer: z.enum(PROBE_ANSWERS),
    wakes: z.boolean().describe('Whether the agent would be woken.'),
    probe: z.string().describe('A description of the probe.'),
    asked: z.string().describe('A short description of what the probe checks.'),
    sentence: z.string().describe('A description of the result.'),
    seen: z.string().describe('The answer, truncated.'),
    duration_ms: z.int(),
  }),
  'Result of trying a probe.',
)
export type ProbeTryView = Shape<typeof probeTry>

export const probeCounts = named(
  'ProbeCounts',
  z.strictObject({
    asked: z.int(),
    saved: z.int().describe('How often the answer was no, so that the agent was not woken.'),
    errors: z.int(),
    last_answer: z.enum(PROBE_ANSWERS),
    last_sentence: z.string(),
    last_at: isoTime,
    last_run_id: z.string(),
    saved_tokens: z
      .number()
      .nullable()
      .describe('Estimate: skipped runs times the usage of the last runs. Null: no run reported its usage.'),
    saved_cost: z.number().nullable(),
  }),
  'How often a probe ran, and what it saved.',
)
export type ProbeCountsView = Shape<typeof probeCounts>

export const probeAnswer = named(
  'ProbeAnswer',
  z.strictObject({
    answer: z.enum(PROBE_ANSWERS),
    at: isoTime,
    asked: z.string(),
    sentence: z.string(),
    seen: z.string(),
  }),
  'The probe of a run and its result.',
)
export type ProbeAnswerView = Shape<typeof probeAnswer>
