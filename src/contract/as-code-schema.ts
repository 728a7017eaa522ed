import { z } from 'zod'
import { asCodeDocument } from '../features/as-code/schema.ts'
import { NAMED_SHAPES } from './shape.ts'

/** The schema of the files that can be applied. */
export type AsCodeSchema = Readonly<Record<string, unknown>> & { readonly $schema: string }

/**
 * The files that `apply` takes as a JSON schema, with which an editor completes and checks them. Draft 7, because that is
 * what editors of YAML know best.
 */
export function asCodeSchema(): AsCodeSchema {
  const { $schema, ...rest } = z.toJSONSchema(asCodeDocument, { target: 'draft-7', ...HOW })
  return { $schema: $schema ?? DRAFT, ...rest, title: 'Escapement: schedules as code' }
}

const DRAFT = 'http://json-schema.org/draft-07/schema#'

const HOW = {
  unrepresentable: 'any',
  reused: 'inline',
  override: ({
    zodSchema,
    jsonSchema,
  }: {
    readonly zodSchema: unknown
    readonly jsonSchema: Record<string, unknown>
  }) => {
    // What a field says of itself comes before what its shape says.
    jsonSchema['description'] ??= NAMED_SHAPES.get(zodSchema as z.ZodType)?.description
    if (jsonSchema['description'] === undefined) delete jsonSchema['description']
    // The bounds of whole numbers in general, and what `format` says already, are only in the reader's way.
    if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum']
    if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum']
    if (jsonSchema['format'] !== undefined) delete jsonSchema['pattern']
  },
} as const
