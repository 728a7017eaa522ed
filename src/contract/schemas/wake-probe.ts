import { z } from 'zod'
import {
  DEFAULT_TIMEOUT_SECONDS,
  MOST_TIMEOUT_SECONDS,
  ON_ERRORS,
  PROBE_KINDS,
  PROBE_METHODS,
} from '../../core/probe/probe.ts'
import { PROBE_ANSWERS } from '../../core/probe/verdict.ts'
import type { ProbeAnswerView, ProbeCountsView, ProbeInput, ProbeTryInput, ProbeTryView } from '../probe.ts'
import { anyJson, moment } from './common.ts'
import { named, shaped } from './shaped.ts'

export const probeInput: z.ZodType<ProbeInput> = named(
  'Probe',
  shaped<ProbeInput>()({
    kind: z.enum(PROBE_KINDS),
    url: z.string().nullish(),
    method: z.enum(PROBE_METHODS).nullish(),
    headers: z.record(z.string(), z.string()).nullish(),
    body: z.string().nullish(),
    program: z.string().nullish(),
    args: z.array(z.string()).nullish(),
    directory: z.string().nullish(),
    of: z.strictObject({ schedule_id: z.string().nullish(), session: z.string().nullish() }).nullish(),
    when: anyJson.optional(),
    changed: z.union([z.boolean(), z.string()]).nullish(),
    on_error: z.enum(ON_ERRORS).nullish(),
    timeout_seconds: z.int().min(1).max(MOST_TIMEOUT_SECONDS).nullish(),
  }),
  'What is asked before the agent is woken: `http` (`url`, `method`, `headers`, `body`), `command` (`program`, `args`, ' +
    '`directory`, where the operator lists it) or `state` (`of`). `when` is a condition on the answer: `{path, op, value}`, ' +
    '`{all: […]}`, `{any: […]}` or `{not: …}`. `changed` lets only what has changed wake the agent. ' +
    `It is given ${DEFAULT_TIMEOUT_SECONDS} seconds unless \`timeout_seconds\` says otherwise.`,
)

export const probeTryInput: z.ZodType<ProbeTryInput> = named(
  'ProbeTryInput',
  shaped<ProbeTryInput>()({ probe: probeInput.nullish(), schedule_id: z.string().min(1).max(200).nullish() }),
)

export const probeTry: z.ZodType<ProbeTryView> = named(
  'ProbeTry',
  shaped<ProbeTryView>()({
    answer: z.enum(PROBE_ANSWERS),
    wakes: z.boolean(),
    probe: z.string(),
    asked: z.string(),
    sentence: z.string(),
    seen: z.string(),
    duration_ms: z.int(),
  }),
)

export const probeCounts: z.ZodType<ProbeCountsView> = named(
  'ProbeCounts',
  shaped<ProbeCountsView>()({
    asked: z.int(),
    saved: z.int(),
    errors: z.int(),
    last_answer: z.enum(PROBE_ANSWERS),
    last_sentence: z.string(),
    last_at: moment,
    last_run_id: z.string(),
    saved_tokens: z.number().nullable(),
    saved_cost: z.number().nullable(),
  }),
)

export const probeAnswer: z.ZodType<ProbeAnswerView> = named(
  'ProbeAnswer',
  shaped<ProbeAnswerView>()({
    answer: z.enum(PROBE_ANSWERS),
    at: moment,
    asked: z.string(),
    sentence: z.string(),
    seen: z.string(),
  }),
)
