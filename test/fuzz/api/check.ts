import type { LightMyRequestResponse } from 'fastify'
import { z } from 'zod'
import type { OperationSpec } from '../../../src/api/operation.ts'
import { REFUSAL_CODES } from '../../../src/api/refusals.ts'
import { problem } from '../../../src/api/problem.ts'
import { taskError } from '../../../src/features/tasks/schema.ts'

/** Something an answer must not be. */
export interface Complaint {
  readonly kind: '5xx' | 'hang' | 'wrong'
  readonly message: string
}

/** No answer takes longer. */
export const MOST_MS = 5_000

/** What only we should ever see: frames of a stack, places on the disk, and what the database says. */
const LEAKS: readonly RegExp[] = [
  /\bat [^\n]{0,200}\.(?:ts|js|mjs):\d+/,
  /node_modules\//,
  /syntax error at or near|violates [a-z-]+ constraint|duplicate key value|invalid input syntax|invalid byte sequence/,
  /relation "[^"]*" does not exist|column "[^"]*" (?:does not exist|of relation)|unsupported Unicode escape/,
  /Cannot read propert|is not a function|Maximum call stack|Cannot convert/,
]

/** What is wrong with an answer, whatever was asked. */
export function complaintsOf(
  response: LightMyRequestResponse,
  asked: { readonly ms: number; readonly spec: OperationSpec | null },
): readonly Complaint[] {
  const { statusCode, body } = response
  const told = body.slice(0, 400)
  if (statusCode >= 500) return [{ kind: '5xx', message: `${statusCode}: ${told}` }]
  const complaints: Complaint[] = []
  if (asked.ms > MOST_MS) complaints.push({ kind: 'hang', message: `the answer took ${Math.round(asked.ms)} ms` })
  if (statusCode >= 400) {
    const leak = LEAKS.find((one) => one.test(body))
    if (leak !== undefined) complaints.push({ kind: 'wrong', message: `tells what nobody should know: ${told}` })
    const wrong = refusalFlaw(response)
    if (wrong !== null) complaints.push({ kind: 'wrong', message: `${wrong}: ${statusCode} ${told}` })
  } else if (asked.spec !== null && statusCode !== 304) {
    const wrong = answerFlaw(response, asked.spec)
    if (wrong !== null) complaints.push({ kind: 'wrong', message: wrong })
  }
  return complaints
}

/** What is wrong with how something was refused, or null. */
function refusalFlaw({ statusCode, headers, body, raw }: LightMyRequestResponse): string | null {
  // To whoever asks for the head alone nothing is told.
  if (raw.req.method === 'HEAD') return null
  const type = String(headers['content-type'] ?? '')
  const told = jsonIn(body)
  if (type.startsWith('application/problem+json')) {
    const read = problem.safeParse(told)
    if (!read.success) return `is no problem as they are described (${z.prettifyError(read.error)})`
    return REFUSAL_CODES[read.data.code] === statusCode ? null : `has the code ${read.data.code} with another status`
  }
  if (!type.startsWith('application/json')) return `is refused as ${type}`
  return taskError.safeParse(told).success ? null : 'is no error as the façade tells them'
}

/** What is wrong with an answer of an operation, or null. */
function answerFlaw({ statusCode, headers, body }: LightMyRequestResponse, spec: OperationSpec): string | null {
  const shape = spec.answers[statusCode]
  if (shape === undefined) return `answers with ${statusCode}, which the table does not say`
  if (shape === null || 'contentType' in shape) return null
  if (!String(headers['content-type']).startsWith('application/json')) return 'does not say that it is JSON'
  const read = shape.safeParse(jsonIn(body))
  return read.success ? null : `does not have its shape: ${z.prettifyError(read.error)} in ${body.slice(0, 300)}`
}

function jsonIn(body: string): unknown {
  try {
    return JSON.parse(body) as unknown
  } catch {
    return undefined
  }
}
