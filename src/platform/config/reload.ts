import { type Config, CONFIG_KEYS } from './keys.ts'
import { type ConfigSource, type ConfigValueView, crossFlaws } from './view.ts'
import { buildTree, defaultLayer, keyAt, type Layer, type ReadLayer } from './tree.ts'
import { flawed, parsed, type Parsed } from '../../domain/input.ts'

/** The result of a reload. Secret values are masked. */
export interface ConfigChange {
  readonly changed: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>
  /** Changed in the file; take effect at the next start. */
  readonly restart: readonly string[]
  /** Missing, or 0 where 0 is ignored: these keep their previous values. */
  readonly kept: readonly string[]
  /** Set in the file, but overridden by another source. */
  readonly overruled: readonly string[]
}

/** The configuration of a running server; every update replaces it as a whole. */
export interface ConfigReloader {
  readonly current: () => Effective
  /** Applies a new version of the file. Fails without any change if it conflicts with the other sources. */
  readonly takeFile: (read: ReadLayer) => Parsed<ConfigChange>
  /** Applies the settings stored for every node. */
  readonly takeStored: (stored: Layer) => Parsed<ConfigChange>
  /** All settings, with secrets masked. */
  readonly view: () => Readonly<Record<string, ConfigValueView>>
}

interface LiveConfigState {
  readonly layers: Layers
  readonly effective: Effective
  /** The configuration after a restart. */
  readonly next: Effective
}

/** Holds a configuration, starting with these layers. */
export function createConfigReloader(first: Layers): Parsed<ConfigReloader> {
  const initial = combine(first)
  if (!initial.ok) return initial
  let state: LiveConfigState = { layers: first, effective: initial.value, next: initial.value }
  // The latest values in the file of settings that take effect at the next start.
  let coldFileLayer = partOf(first.file, 'cold')
  const replaceLayers = (layers: Layers, cold: Layer): Parsed<Pick<ConfigChange, 'changed' | 'restart'>> => {
    const effective = combine(layers)
    const next = combine({ ...layers, file: new Map([...partOf(layers.file, 'hot'), ...cold]) })
    if (!effective.ok) return effective
    if (!next.ok) return next
    const before = state.effective
    state = { layers, effective: effective.value, next: next.value }
    coldFileLayer = cold
    return parsed({ changed: differences(before, effective.value), restart: pendingRestart(state) })
  }
  return parsed({
    current: () => state.effective,
    takeFile: ({ values, kept }) => {
      const before = partOf(state.layers.file, 'hot')
      // Cold settings keep their values of the start; hot settings missing in the file keep their previous values.
      const file = new Map([...partOf(first.file, 'cold'), ...before, ...partOf(values, 'hot')])
      const missing = [...before.keys()].filter((path) => !values.has(path) && !kept.includes(path))
      const done = replaceLayers({ ...state.layers, file }, partOf(values, 'cold'))
      if (!done.ok) return done
      return parsed({
        ...done.value,
        kept: [...kept, ...missing].sort(),
        overruled: overruledSettings(values, state.effective),
      })
    },
    takeStored: (stored) => {
      const done = replaceLayers({ ...state.layers, stored: partOf(stored, 'hot') }, coldFileLayer)
      return done.ok ? parsed({ ...done.value, kept: [], overruled: [] }) : done
    },
    view: () => viewOf(state),
  })
}

function differences(before: Effective, after: Effective): ConfigChange['changed'] {
  const paths = new Set([...before.values.keys(), ...after.values.keys()])
  const changed: Record<string, { from: unknown; to: unknown }> = {}
  for (const path of paths) {
    const [from, to] = [before.values.get(path)?.value, after.values.get(path)?.value]
    if (!isSame(from, to)) changed[path] = { from: shownValue(path, from) ?? null, to: shownValue(path, to) ?? null }
  }
  return changed
}

const pendingRestart = ({ effective, next }: LiveConfigState): readonly string[] =>
  [...next.values.keys()].filter((path) => !isSame(next.values.get(path)?.value, effective.values.get(path)?.value))

const overruledSettings = (file: Layer, { values }: Effective): readonly string[] =>
  [...file].flatMap(([path, value]) => {
    const effectiveSetting = values.get(path)
    return isHot(path) && effectiveSetting?.source !== 'file' && !isSame(effectiveSetting?.value, value) ? [path] : []
  })

function viewOf(state: LiveConfigState): Readonly<Record<string, ConfigValueView>> {
  const restart = new Set(pendingRestart(state))
  return Object.fromEntries(
    [...state.effective.values].map(([path, { value, source }]) => {
      const defaultValue = shownValue(path, DEFAULTS.get(path) ?? null)
      const view = { value: shownValue(path, value), source, default: defaultValue, hot: isHot(path) }
      return [
        path,
        restart.has(path) ? { ...view, after_restart: shownValue(path, state.next.values.get(path)?.value) } : view,
      ]
    }),
  )
}

/** The sources of settings, from lowest to highest precedence; the defaults are below them. */
export interface Layers {
  readonly file: Layer
  readonly environment: Layer
  readonly flag: Layer
  /** Set through the API for every node; only hot settings. */
  readonly stored: Layer
}

/** The value of a setting and its source. */
interface SourcedSetting {
  readonly value: unknown
  readonly source: ConfigSource
}

/** The configuration in force, and the source of each value. */
export interface Effective {
  readonly config: Config
  readonly values: ReadonlyMap<string, SourcedSetting>
}

export const NO_LAYERS: Layers = { file: new Map(), environment: new Map(), flag: new Map(), stored: new Map() }

const DEFAULTS = defaultLayer(CONFIG_KEYS)

/** Merges the layers. Fails if the merged settings conflict. */
export function combine({ file, environment, flag, stored }: Layers): Parsed<Effective> {
  const values = new Map<string, SourcedSetting>()
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
  // The cast is safe: the defaults are complete, and each value was parsed by its key.
  const config = buildTree(CONFIG_KEYS, all) as unknown as Config
  return parsed({ config, values })
}

/** Whether a change of this setting takes effect while running. */
const isHot = (path: string): boolean => keyAt(CONFIG_KEYS, path)?.hot === true

/** The settings of a layer that take effect while running, or those that do not. */
const partOf = (layer: Layer, part: 'hot' | 'cold'): Layer =>
  new Map([...layer].filter(([path]) => isHot(path) === (part === 'hot')))

/** Compares values of settings, which are numbers, strings, lists and small objects. */
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** A value with secrets masked. */
function shownValue(path: string, value: unknown): unknown {
  const mask = keyAt(CONFIG_KEYS, path)?.mask ?? null
  return mask === null || value === undefined ? value : mask(value)
}
