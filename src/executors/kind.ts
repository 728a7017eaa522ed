import { flawed, parsed, unknownFieldsOf, type Flaw, type Parsed } from '../domain/input.ts'
import { nearestWord } from '../domain/nearest-word.ts'

/** A text of the console in each of its languages. */
export interface Words {
  readonly en: string
  readonly zh: string
}

/** What values an option takes. Rules that no such table can express are those of the parser of its kind. */
export interface OptionShape {
  /** The option, as the API calls it. */
  readonly name: string
  readonly input: 'code' | 'area' | 'number' | 'flag' | 'choice' | 'list' | 'pairs' | 'json'
  readonly choices?: readonly string[]
  readonly isRequired?: boolean
  /** The least and the most: of a number, of the characters of a text, of the entries of a list. */
  readonly min?: number
  readonly max?: number
  readonly isWhole?: true
  /** Of a list: each entry. Left out: texts. */
  readonly each?: Omit<OptionShape, 'name'>
  /** Of JSON that is an object: its fields, or any. Left out: any JSON. */
  readonly fields?: readonly OptionShape[] | 'any'
}

/** An option as the console asks for it. */
export interface OptionField extends OptionShape {
  readonly label: Words
  readonly hint?: Words
  readonly example?: string
  /** What the form of a new agent begins with. */
  readonly usual?: string | boolean
}

type Given = Readonly<Record<string, unknown>>

/** What is known of a way in which work is performed. How it is performed is in `src/executors/<kind>`. */
export interface ExecutorSpec<Kind extends string = string, Options = unknown> {
  readonly kind: Kind
  /** What it does, with its options, behind its name in the API reference. */
  readonly about: string
  /** What does the work, for docs/concepts/agents.md. */
  readonly concept: string
  /** Seconds an attempt may take when nobody has said. */
  readonly timeoutSeconds: number
  /** Whether a schedule may bring it with it instead of naming an agent. */
  readonly isInline: boolean
  /** Reads its options, and refuses what it does not know. */
  readonly parse: (field: string, given: Given) => Parsed<Options>
  /** The address that it calls, and the option that names it; null: nobody can tell. Left out: it calls none. */
  readonly address?: (given: Given) => { readonly url: string; readonly option: string } | null
  /** Whether it takes options of any name, beside those that the console asks for. */
  readonly takesAny?: true
  /** What the console calls it and asks for; `place` is the option that tells agents of the kind apart. */
  readonly console: { readonly name: Words; readonly place?: string; readonly fields: readonly OptionField[] }
}

/** One flaw for each option that is not known, with the one that was probably meant. */
export const unknownOptions = (
  field: string,
  given: Given,
  { known, of = '' }: { readonly known: readonly string[]; readonly of?: string },
): readonly Flaw[] =>
  unknownFieldsOf({ given, known, at: field }, (name) => {
    const near = nearestWord(name, known)
    const message = `is not a known field${of}${near === null ? '' : `; did you mean ${near}?`}`
    return { field: `${field}.${name}`, value: given[name], message, allowed: known.join(', ') }
  })

/** Options that are kept as they were given. */
export const anyOptions = (_: string, given: Given): Parsed<Given> => parsed(given)

/** No options at all. */
export function noOptions(field: string, given: Given): Parsed<Given> {
  const flaws = unknownOptions(field, given, { known: ['kind'] })
  return flaws.length > 0 ? flawed(flaws) : parsed(given)
}
