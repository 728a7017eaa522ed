import { openApiOf } from '../../../src/operations/openapi.ts'
import type { OperationSpec } from '../../../src/api/operation.ts'
import { ALL_OPERATIONS } from '../contract/objects.ts'
import { bodiesIn, type DescribedBody } from './document.ts'

/** The document as it is served. */
export const DOCUMENT = openApiOf(Object.fromEntries(ALL_OPERATIONS), '0.0.0-test')

const bodyIn = bodiesIn(DOCUMENT)

/** An operation with a body, and what the document says of it. */
export interface Described {
  readonly id: string
  readonly spec: OperationSpec
  readonly described: DescribedBody
}

/** What is read from its very bytes, because it is signed, is not read by a schema. */
const DESCRIBED: readonly Described[] = ALL_OPERATIONS.filter(
  ([, { body, raw }]) => body !== undefined && raw !== true,
).map(([id, spec]) => ({ id, spec, described: bodyIn(spec) }))

/** The operations with a body, by family. */
export const FAMILIES: readonly (readonly [family: string, operations: readonly Described[]])[] = [
  ...new Set(DESCRIBED.map(({ spec }) => spec.tag)),
].map((tag) => [tag, DESCRIBED.filter(({ spec }) => spec.tag === tag)])

const asked = Number(process.env['ESCAPEMENT_SEED'] ?? '')

/** Other bodies: ESCAPEMENT_SEED=123 npm test -- http/document */
export const SEED = Number.isSafeInteger(asked) && asked > 0 ? asked : 20_260_115
