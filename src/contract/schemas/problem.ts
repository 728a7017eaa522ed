import { z } from 'zod'
import type { Problem, ProblemError } from '../problem.ts'
import { REFUSAL_CODES, type RefusalCode } from '../refusals.ts'
import { anyObject, oneOf } from './common.ts'
import { named, shaped } from './shaped.ts'

/** One thing that is wrong with what was sent. */
export const problemError: z.ZodType<ProblemError> = shaped<ProblemError>()({
  pointer: z.string(),
  message: z.string(),
  allowed: z.string().optional(),
})

export const problem: z.ZodType<Problem> = named(
  'Problem',
  shaped<Problem>()({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: oneOf(Object.keys(REFUSAL_CODES) as readonly RefusalCode[]),
    request_id: z.string(),
    errors: z.array(problemError).optional(),
    run_id: z.string().optional(),
    details: anyObject.optional(),
  }),
  'What was refused and why (RFC 9457). `code` is stable; `errors` points to fields.',
)
