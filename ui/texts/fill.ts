import { CATALOGUE, type English, type Language, type TextKey } from './catalogue.ts'

type NameOf<Hole extends string> = Hole extends `${infer Name}|${string}` ? Name : Hole
type HolesIn<Text extends string> = Text extends `${string}{${infer Hole}}${infer Rest}`
  ? NameOf<Hole> | HolesIn<Rest>
  : never

/** What a text wants filled in; the compiler refuses a text without it. */
export type Values<Key extends TextKey> = { readonly [Name in HolesIn<English[Key]>]: string | number }

/** The texts that have nothing to fill in, for tables of names. */
export type PlainKey = { [Key in TextKey]: [HolesIn<English[Key]>] extends [never] ? Key : never }[TextKey]

/** A text has no second argument unless it has something to fill in. */
export type Rest<Key extends TextKey> = [HolesIn<English[Key]>] extends [never] ? [] : [values: Values<Key>]

/** Says a text in one language. */
export type Say = <Key extends TextKey>(key: Key, ...rest: Rest<Key>) => string

/** The tongue of each language, for numbers and dates. */
export const LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', zh: 'zh-CN' }

/** How texts are said in a language. Numbers are written as people there write them. */
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
