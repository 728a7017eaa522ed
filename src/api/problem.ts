import { z } from 'zod'
import { REFUSAL_CODES, type RefusalCode } from './refusals.ts'
import { anyObject } from './common.ts'
import { named, type Shape } from './fields.ts'

/** One error in the request. */
export const problemError = z.strictObject({
  pointer: z
    .string()
    .describe('JSON pointer to the field of the body; for path and query parameters, `/` and the name.'),
  message: z.string().describe('Continues after the field\'s name: "must be a whole number".'),
  allowed: z.string().optional(),
})
export type ProblemError = Shape<typeof problemError>

export const refusalCode = named(
  'RefusalCode',
  z.enum(Object.keys(REFUSAL_CODES) as readonly RefusalCode[]),
  'The error code of a rejected request.',
)

export const problem = named(
  'Problem',
  z.strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: refusalCode,
    request_id: z.string(),
    errors: z.array(problemError).optional(),
    run_id: z.string().optional().describe('The run that records the rejected request.'),
    details: anyObject.optional(),
  }),
  'Why a request was rejected (RFC 9457). `code` is stable; `errors` points to fields.',
)
export type Problem = Shape<typeof problem>
