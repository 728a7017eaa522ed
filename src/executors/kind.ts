import { flawed, parsed, unknownFieldsOf, type Flaw, type Parsed } from '../domain/input.ts'
import { nearestWord } from '../domain/nearest-word.ts'

/** A console text in each language. */
export interface LocalizedText {
  readonly en: string
  readonly zh: string
}

/** The values of an option. Rules that this table cannot express are in the parser of the kind. */
export interface OptionShape {
  /** The API name of the option. */
  readonly name: string
  readonly input: 'code' | 'area' | 'number' | 'flag' | 'choice' | 'list' | 'pairs' | 'json'
  readonly choices?: readonly string[]
  readonly isRequired?: boolean
  /** The bounds of a number, of the length of a text, or of the number of entries of a list. */
  readonly min?: number
  readonly max?: number
  readonly isWhole?: true
  /** For a list: its entries; omitted: texts. */
  readonly each?: Omit<OptionShape, 'name'>
  /** For a JSON object: its fields, or any; omitted: any JSON. */
  readonly fields?: readonly OptionShape[] | 'any'
}

/** An option as the console shows it. */
export interface OptionField extends OptionShape {
  readonly label: LocalizedText
  readonly hint?: LocalizedText
  readonly example?: string
  /** The initial value in the form of a new agent. */
  readonly usual?: string | boolean
}

type Given = Readonly<Record<string, unknown>>

/** The description of an executor kind; its implementation is in `src/executors/<kind>`. */
export interface ExecutorSpec<Kind extends string = string, Options = unknown> {
  readonly kind: Kind
  /** What it does and its options, for the API reference. */
  readonly about: string
  /** What executes the runs, for docs/concepts/agents.md. */
  readonly concept: string
  /** The default time limit of an attempt, in seconds. */
  readonly timeoutSeconds: number
  /** Whether a schedule may define it inline instead of naming an agent. */
  readonly isInline: boolean
  /** Reads its options and refuses unknown ones. */
  readonly parse: (field: string, given: Given) => Parsed<Options>
  /**
   * The URL that it calls, and the option that contains it; null when it cannot be determined. Omitted: it calls
   * none.
   */
  readonly address?: (given: Given) => { readonly url: string; readonly option: string } | null
  /** Whether it accepts options of any name, besides those in the console. */
  readonly takesAny?: true
  /** Its name and form in the console; `place` is the option that distinguishes agents of the kind. */
  readonly console: { readonly name: LocalizedText; readonly place?: string; readonly fields: readonly OptionField[] }
}

/** One flaw per unknown option, with a suggestion. */
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

/** Accepts any options unchanged. */
export const anyOptions = (_: string, given: Given): Parsed<Given> => parsed(given)

/** Accepts no options. */
export function noOptions(field: string, given: Given): Parsed<Given> {
  const flaws = unknownOptions(field, given, { known: ['kind'] })
  return flaws.length > 0 ? flawed(flaws) : parsed(given)
}
