import { camelCase, type CamelCase } from '../../domain/nearest-word.ts'
import type { Key, KeyTree, OpenGroup } from './key.ts'
import type { Layer } from './tree.ts'

/** The values of a tree of keys, with camelCase names. */
export type SettingsOf<Tree> = {
  readonly [Name in keyof Tree as CamelCase<Name & string>]: SettingOf<Tree[Name]>
}

type SettingOf<Entry> =
  Entry extends Key<infer T>
    ? T
    : Entry extends OpenGroup<infer T>
      ? { readonly byName: ReadonlyMap<ReturnType<Entry['nameOf']>, T> } & SettingsOf<Entry['own']>
      : SettingsOf<Entry>

/** Input for a tree of keys: any part of it. */
export type SettingsInputOf<Tree> = {
  readonly [Name in keyof Tree]?: Tree[Name] extends Key<infer T>
    ? T
    : Tree[Name] extends OpenGroup<infer T>
      ? Readonly<Record<string, T>>
      : SettingsInputOf<Tree[Name]>
}

type Values = Readonly<Record<string, unknown>>

/** Converts the values of a tree of keys to camelCase names; leaves out other values. */
export function camelCaseSettings<Tree extends KeyTree>(tree: Tree, values: Values): SettingsOf<Tree> {
  const entries = Object.entries(tree).map(
    ([name, entry]) => [camelCase(name), camelCaseSetting(entry, values[name])] as const,
  )
  return Object.freeze(Object.fromEntries(entries)) as SettingsOf<Tree>
}

function camelCaseSetting(entry: KeyTree[string], value: unknown): unknown {
  if (entry.is === 'key') return value
  const inside = value as Values
  if (entry.is !== 'open') return camelCaseSettings(entry, inside)
  const names = Object.keys(inside).filter((name) => !Object.hasOwn(entry.own, name))
  return Object.freeze({
    byName: new Map(names.map((name) => [name, inside[name]])),
    ...camelCaseSettings(entry.own, inside),
  })
}

/** The inverse of `inCode`: every setting by its path. */
export function layerOf(tree: KeyTree, settings: object, prefix = ''): Layer {
  const values = settings as Values
  return new Map(
    Object.entries(tree).flatMap(([name, entry]): readonly (readonly [string, unknown])[] => {
      const path = `${prefix}${name}`
      const value = values[camelCase(name)]
      if (entry.is === 'key') return [[path, value]]
      const below = `${path}.`
      if (entry.is !== 'open') return [...layerOf(entry, value as object, below)]
      const { byName } = value as { readonly byName: ReadonlyMap<string, unknown> }
      const named = [...byName].map(([one, of]) => [`${below}${one}`, of] as const)
      return [...named, ...layerOf(entry.own, value as object, below)]
    }),
  )
}
