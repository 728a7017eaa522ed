import { CATALOGUE, type English, type Language, type TextKey } from './catalogue.ts'

type NameOf<Hole extends string> = Hole extends `${infer Name}|${string}` ? Name : Hole
type HolesIn<Text extends string> = Text extends `${string}{${infer Hole}}${infer Rest}`
  ? NameOf<Hole> | HolesIn<Rest>
  : never

/** The placeholders of a text; a missing one is a compile error. */
export type Values<Key extends TextKey> = { readonly [Name in HolesIn<English[Key]>]: string | number }

/** The texts without placeholders, for tables of names. */
export type PlainKey = { [Key in TextKey]: [HolesIn<English[Key]>] extends [never] ? Key : never }[TextKey]

/** The second argument of `say`, which only texts with placeholders have. */
export type Rest<Key extends TextKey> = [HolesIn<English[Key]>] extends [never] ? [] : [values: Values<Key>]

/** Returns a text in one language. */
export type Say = <Key extends TextKey>(key: Key, ...rest: Rest<Key>) => string

/** The locale of each language, for numbers and dates. */
export const LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', zh: 'zh-CN' }

/** Creates the `say` of a language. Numbers are formatted for its locale. */
export function createSay(language: Language): Say {
  const texts = CATALOGUE[language]
  const numbers = new Intl.NumberFormat(LOCALES[language])
  const plurals = new Intl.PluralRules(LOCALES[language])
  return (key, ...rest) => {
    const values = (rest[0] ?? {}) as Readonly<Record<string, string | number>>
    return texts[key].replaceAll(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (hole: string, ...found: readonly unknown[]) => {
      const [name, one, many] = found as readonly [string, string | undefined, string | undefined]
      const value = values[name]
      if (one !== undefined && many !== undefined) return plurals.select(Number(value)) === 'one' ? one : many
      if (value === undefined) return hole
      return typeof value === 'number' ? numbers.format(value) : value
    })
  }
}
