import { CONFIG_KEYS, type Config } from '../contract/config/keys.ts'
import { crossFlaws } from '../contract/config/rules.ts'
import { buildTree, defaultLayer, keyAt, type Layer } from '../contract/config/tree.ts'
import type { ConfigSource } from '../contract/config/view.ts'
import { flawed, parsed, type Parsed } from '../core/input.ts'

/** Who says what, from the weakest to the strongest; below all of them are the defaults. */
export interface Layers {
  readonly file: Layer
  readonly environment: Layer
  readonly flag: Layer
  /** Set through the API for every node; only what takes effect while running. */
  readonly stored: Layer
}

/** A setting as it holds, and who said so. */
export interface Sourced {
  readonly value: unknown
  readonly source: ConfigSource
}

/** The configuration that holds: one frozen object, and where each of its values comes from. */
export interface Effective {
  readonly config: Config
  readonly values: ReadonlyMap<string, Sourced>
}

export const NO_LAYERS: Layers = { file: new Map(), environment: new Map(), flag: new Map(), stored: new Map() }

/** What holds when nobody gives anything. */
export const DEFAULTS = defaultLayer(CONFIG_KEYS)

/** Puts the layers on top of each other. Refused when what comes out does not fit together. */
export function combine({ file, environment, flag, stored }: Layers): Parsed<Effective> {
  const values = new Map<string, Sourced>()
  const put = (layer: Layer, source: ConfigSource): void => {
    for (const [path, value] of layer) values.set(path, { value, source })
  }
  put(DEFAULTS, 'default')
  put(file, 'file')
  put(environment, 'environment')
  put(flag, 'flag')
  put(stored, 'stored')
  const all = new Map([...values].map(([path, { value }]) => [path, value]))
  const flaws = crossFlaws(all)
  if (flaws.length > 0) return flawed(flaws)
  // It is complete, because the defaults are, and each value was read by its key.
  const config = buildTree(CONFIG_KEYS, all) as unknown as Config
  return parsed({ config, values })
}

/** Whether a change of this setting takes effect while running. */
export const isHot = (path: string): boolean => keyAt(CONFIG_KEYS, path)?.hot === true

/** The settings of a layer that take effect while running, or those that do not. */
export const partOf = (layer: Layer, part: 'hot' | 'cold'): Layer =>
  new Map([...layer].filter(([path]) => isHot(path) === (part === 'hot')))

/** Equal as far as settings go: they are numbers, words, lists and small objects. */
export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** A value as it may be shown: secrets are masked. */
export function shownValue(path: string, value: unknown): unknown {
  const mask = keyAt(CONFIG_KEYS, path)?.mask ?? null
  return mask === null || value === undefined ? value : mask(value)
}
