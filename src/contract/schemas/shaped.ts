import { z } from 'zod'

/** The names that an interface spells out; an index signature names nothing. */
type NamesOf<Shape> = Exclude<
  keyof { [Name in keyof Shape as string extends Name ? never : number extends Name ? never : Name]: unknown },
  never
>

/** A schema for every field of an interface, and for nothing else. */
type FieldsOf<Shape> = { readonly [Name in NamesOf<Shape>]: z.ZodType<Shape[Name]> }

type NothingElse<Shape, Fields> = { readonly [Name in Exclude<keyof Fields, NamesOf<Shape>>]: never }

/**
 * The schema of an interface of the contract. The interface stays the one definition of the shape; the compiler refuses a
 * schema that lacks a field, has one too many, or lets through what the interface does not.
 */
export const shaped =
  <Shape>() =>
  <const Fields extends FieldsOf<Shape>>(fields: Fields & NothingElse<Shape, Fields>): z.ZodType<Shape> =>
    z.strictObject(fields) as unknown as z.ZodType<Shape>

/** The name under which a shape stands in the OpenAPI document. */
export interface ShapeName {
  readonly id: string
  readonly description?: string
}

/** The shapes with a name of their own. Filled while the files of this folder are loaded, and never after. */
export const NAMED_SHAPES = new Map<z.ZodType, ShapeName>()

/** Gives a shape its name. */
export function named<Schema extends z.ZodType>(id: string, schema: Schema, description?: string): Schema {
  NAMED_SHAPES.set(schema, { id, ...(description === undefined ? {} : { description }) })
  return schema
}
