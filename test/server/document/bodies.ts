import { createRandom } from '../../simulation/random.ts'
import type { DescribedBody, JsonSchema } from './document.ts'
import { draw, type Drawing, type Wanted } from './draw.ts'
import { nearlyRight } from './edges.ts'

/** A body, and whether it was drawn to fit. */
export interface DrawnBody {
  readonly body: unknown
  readonly meant: boolean
  /** Its number: with the same seed the same body. */
  readonly number: number
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Bodies by their numbers. */
export interface Bodies {
  readonly total: number
  readonly at: (number: number) => DrawnBody
}

const FEWEST_AT_RANDOM = 500

/**
 * Bodies of an operation: first everything that is nearly right, then at random. Most of them are the example of the
 * document with other fields, because rules between fields leave little of what is drawn field by field.
 */
export function bodiesFor(
  { schema, example, resolve }: Pick<DescribedBody, 'schema' | 'example' | 'resolve'>,
  { seed, count }: { readonly seed: number; readonly count: number },
): Bodies {
  const fitting = (part: JsonSchema): unknown => draw(part, { random: createRandom(seed), resolve })
  const edges = nearlyRight(schema, resolve, fitting)
  return {
    total: Math.max(count, edges.length + FEWEST_AT_RANDOM),
    at: (number) => {
      const random = createRandom(seed * 1_000_003 + number)
      const wanted = number < edges.length ? edges[number] : random.chance(0.7) ? undefined : random.one(edges)
      const body = bodyWith(wanted, { schema, example, drawing: { random, resolve } })
      return { body, meant: wanted === undefined, number }
    },
  }
}

function bodyWith(
  wanted: Wanted | undefined,
  { schema, example, drawing }: { readonly schema: JsonSchema; readonly example: unknown; readonly drawing: Drawing },
): unknown {
  const drawn = draw(schema, drawing, wanted === undefined ? {} : { wanted })
  if (!isObject(example) || !isObject(drawn) || wanted?.way.length === 0 || drawing.random.chance(0.3)) return drawn
  return wanted === undefined ? { ...drawn, ...example } : { ...example, ...drawn }
}
