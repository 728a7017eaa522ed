import type { z } from 'zod'
import { flawed, parsed, type Parsed } from '../domain/input.ts'
import { isConfidential } from '../api/fields.ts'
import { fieldAt, flawsOf, valueAt } from './schema-flaws.ts'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/**
 * Reads what fits a schema; what does not is told in our words, all of it. Words of closed lists may be given in any case
 * and come out as they are spelled in the schema. `at`: where it stands in what was sent, for the names in flaws.
 */
export function readShape<Schema extends z.ZodType>(schema: Schema, given: unknown, at = ''): Parsed<z.output<Schema>> {
  let read = schema.safeParse(given)
  let spelled = given
  // Nearly all words are given as they are spelled; only others are looked up. A kind decides which words there are inside.
  for (let pass = 0; !read.success && pass < SPELLING_PASSES; pass += 1) {
    const respelled = inOurSpelling(read.error.issues, spelled)
    if (respelled === spelled) break
    spelled = respelled
    read = schema.safeParse(spelled)
  }
  if (read.success) return parsed(read.data)
  const flaws = flawsOf(read.error, given, schema)
  const isHidden = isConfidential(schema)
  if (at === '' && !isHidden) return flawed(flaws)
  return flawed(
    flaws.map((flaw) => ({
      ...flaw,
      field: fieldAt(at, flaw.field),
      ...(isHidden ? { value: undefined } : {}),
    })),
  )
}

/** Kinds stand inside of kinds no deeper than this. */
const SPELLING_PASSES = 3

/** What was given with the words of closed lists in the spelling of the schema; the same object if there are none. */
function inOurSpelling(issues: readonly Issue[], given: unknown): unknown {
  const copy = copyOnWrite(given)
  const respell = (found: readonly Issue[], at: Path): void => {
    for (const issue of found) {
      const path = [...at, ...issue.path]
      if (issue.code === 'invalid_union') for (const choice of issue.errors) respell(choice, path)
      const words = wordsOf(issue)
      if (words === null) continue
      const word = wordMeant(valueAt(given, path), words)
      if (word !== undefined) copy.set(path, word)
    }
  }
  respell(issues, [])
  return copy.value()
}

/** The words that would have been right; null: it is not about words. */
function wordsOf(issue: Issue): readonly unknown[] | null {
  if (issue.code === 'invalid_value') return issue.values
  return issue.code === 'invalid_union' && 'options' in issue ? issue.options : null
}

function wordMeant(value: unknown, words: readonly unknown[]): unknown {
  if (typeof value !== 'string') return undefined
  const lower = value.toLowerCase()
  return words.find((word) => typeof word === 'string' && word !== value && word.toLowerCase() === lower)
}

type Container = Record<PropertyKey, unknown>

/** Changes of a value that leave it as it was. Each object on the way is copied once, however many changes there are. */
function copyOnWrite(given: unknown): { readonly set: (path: Path, value: unknown) => void; value: () => unknown } {
  const copies = new Set<unknown>()
  const frame: Container = { root: given }
  const own = (container: Container, name: PropertyKey): Container => {
    const found = container[name] as Container
    if (copies.has(found)) return found
    const copied = (Array.isArray(found) ? [...(found as readonly unknown[])] : { ...found }) as Container
    copies.add(copied)
    container[name] = copied
    return copied
  }
  return {
    set: (path, value) => {
      const names = ['root', ...path]
      const last = names.pop() ?? 'root'
      names.reduce(own, frame)[last] = value
    },
    value: () => frame['root'],
  }
}
