import type { z } from 'zod'

/** Deeply readonly, and otherwise as it is. */
type Frozen<Value> = unknown extends Value ? Value : { readonly [Name in keyof Value]: Frozen<Value[Name]> }

/** What a schema lets through: the type of every request, answer and event comes from its schema this way. */
export type Shape<Schema extends z.ZodType> = Frozen<z.output<Schema>>

/** The name under which a shape stands in the OpenAPI document. */
export interface ShapeName {
  readonly id: string
  readonly description?: string
}

/** The shapes with a name of their own. Filled while the modules of the contract are loaded, and never after. */
export const NAMED_SHAPES = new Map<z.ZodType, ShapeName>()

/** Gives a shape its name. */
export function named<Schema extends z.ZodType>(id: string, schema: Schema, description?: string): Schema {
  NAMED_SHAPES.set(schema, { id, ...(description === undefined ? {} : { description }) })
  return schema
}
