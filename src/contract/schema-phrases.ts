import { z } from 'zod'
import type { Flaw } from '../domain/input.ts'

/** The schema of what stands at a path inside what another schema reads; null: it is not known. */
export function nodeAt(schema: z.ZodType, path: readonly PropertyKey[]): z.ZodType | null {
  let node = bare(schema)
  for (const name of path) {
    const child = childOf(node, name)
    if (child === null) return null
    node = child
  }
  return node
}

function childOf(node: z.ZodType, name: PropertyKey): z.ZodType | null {
  if (node instanceof z.ZodObject) {
    const field: unknown = Object.hasOwn(node.shape, name) ? node.shape[String(name)] : undefined
    return field instanceof z.ZodType ? bare(field) : null
  }
  if (node instanceof z.ZodArray) return bare(node.element as z.ZodType)
  if (node instanceof z.ZodRecord) return bare(node.valueType as z.ZodType)
  if (!(node instanceof z.ZodUnion)) return null
  for (const choice of node.options) {
    const child = childOf(bare(choice as z.ZodType), name)
    if (child !== null) return child
  }
  return null
}

/** A schema without what only says that a value may be left out or null. */
function bare(schema: z.ZodType): z.ZodType {
  let node = schema
  while (node instanceof z.ZodOptional || node instanceof z.ZodNullable || node instanceof z.ZodDefault)
    node = node.unwrap() as z.ZodType
  return node
}

/** What a schema accepts, as a phrase; empty where its name says more than a phrase could. */
export function phraseFor(node: z.ZodType | null): Pick<Flaw, 'allowed'> {
  const allowed = node === null ? null : phraseOf(node)
  return allowed === null ? {} : { allowed }
}

function phraseOf(node: z.ZodType): string | null {
  if (node instanceof z.ZodEnum || node instanceof z.ZodLiteral)
    return [...('options' in node ? node.options : node.values)].map(String).join(', ')
  if (node instanceof z.ZodBoolean) return 'true, false'
  if (node instanceof z.ZodString) return textPhrase(node)
  if (node instanceof z.ZodNumber) return numberPhrase(node)
  if (node instanceof z.ZodObject) return `an object with ${Object.keys(node.shape).join(', ')}`
  if (node instanceof z.ZodUnion) {
    const phrases = node.options.map((choice) => phraseOf(bare(choice as z.ZodType)))
    return phrases.includes(null) ? null : phrases.join(', or ')
  }
  return null
}

function textPhrase({ minLength, maxLength }: z.ZodString): string | null {
  if (maxLength === null) return minLength === null ? null : `a text of at least ${minLength} characters`
  return `a text of ${minLength ?? 0} to ${maxLength} characters`
}

/** Bounds beyond these are those of numbers, not ours. */
const FARTHEST = Number.MAX_SAFE_INTEGER

function numberPhrase(node: z.ZodNumber): string | null {
  const kind = node.format?.includes('int') === true ? 'a whole number' : 'a number'
  const low = node.minValue === null || node.minValue <= -FARTHEST ? null : node.minValue
  const high = node.maxValue === null || node.maxValue >= FARTHEST ? null : node.maxValue
  if (low !== null && !node.safeParse(low).success)
    return high === null ? `${kind} above ${low}` : `${kind} above ${low}, up to ${high}`
  if (low === null) return high === null ? null : `${kind} up to ${high}`
  return high === null ? `${kind} from ${low} on` : `${kind} from ${low} to ${high}`
}
