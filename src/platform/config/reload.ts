import { type Config, CONFIG_KEYS } from './keys.ts'
import { crossFlaws } from '../../contract/config/rules.ts'
import { buildTree, defaultLayer, keyAt, type Layer, type ReadLayer } from './tree.ts'
import type { ConfigSource, ConfigValueView } from '../../contract/config/view.ts'
import { flawed, parsed, type Parsed } from '../../domain/input.ts'

/** What a reload has done. Values are as they may be shown. */
export interface ConfigChange {
  readonly changed: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>
  /** The file wants these otherwise; they take effect with the next start. */
  readonly restart: readonly string[]
  /** Missing, or 0 where that means nothing: these keep what they were set to before. */
  readonly kept: readonly string[]
  /** The file says something about these, and somebody with the last word says something else. */
  readonly overruled: readonly string[]
}

/** The configuration of a running server: replaced whole, never changed. */
export interface ConfigKeeper {
  readonly current: () => Effective
  /** The file was read again. Refused whole, with nothing changed, when it does not fit with the rest. */
  readonly takeFile: (read: ReadLayer) => Parsed<ConfigChange>
  /** What is stored for every node, as it is now. */
  readonly takeStored: (stored: Layer) => Parsed<ConfigChange>
  /** Every setting as it may be shown. */
  readonly view: () => Readonly<Record<string, ConfigValueView>>
}

interface State {
  readonly layers: Layers
  readonly effective: Effective
  /** What would hold after a restart. */
  readonly next: Effective
}

/** Keeps a configuration, beginning with what the layers say. */
export function createConfigKeeper(first: Layers): Parsed<ConfigKeeper> {
  const begun = combine(first)
  if (!begun.ok) return begun
  let state: State = { layers: first, effective: begun.value, next: begun.value }
  // What the file last said about settings that take effect at a start.
  let wanted = partOf(first.file, 'cold')
  const become = (layers: Layers, cold: Layer): Parsed<Pick<ConfigChange, 'changed' | 'restart'>> => {
    const effective = combine(layers)
    const next = combine({ ...layers, file: new Map([...partOf(layers.file, 'hot'), ...cold]) })
    if (!effective.ok) return effective
    if (!next.ok) return next
    const before = state.effective
    state = { layers, effective: effective.value, next: next.value }
    wanted = cold
    return parsed({ changed: differences(before, effective.value), restart: pendingRestart(state) })
  }
  return parsed({
    current: () => state.effective,
    takeFile: ({ values, kept }) => {
      const before = partOf(state.layers.file, 'hot')
      // What takes effect at a start stays as it was at the start; of the rest, what is missing stays.
      const file = new Map([...partOf(first.file, 'cold'), ...before, ...partOf(values, 'hot')])
      const missing = [...before.keys()].filter((path) => !values.has(path) && !kept.includes(path))
      const done = become({ ...state.layers, file }, partOf(values, 'cold'))
      if (!done.ok) return done
      return parsed({
        ...done.value,
        kept: [...kept, ...missing].sort(),
        overruled: overruled(values, state.effective),
      })
    },
    takeStored: (stored) => {
      const done = become({ ...state.layers, stored: partOf(stored, 'hot') }, wanted)
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

const pendingRestart = ({ effective, next }: State): readonly string[] =>
  [...next.values.keys()].filter((path) => !isSame(next.values.get(path)?.value, effective.values.get(path)?.value))

const overruled = (file: Layer, { values }: Effective): readonly string[] =>
  [...file].flatMap(([path, value]) => {
    const holds = values.get(path)
    return isHot(path) && holds?.source !== 'file' && !isSame(holds?.value, value) ? [path] : []
  })

function viewOf(state: State): Readonly<Record<string, ConfigValueView>> {
  const restart = new Set(pendingRestart(state))
  return Object.fromEntries(
    [...state.effective.values].map(([path, { value, source }]) => {
      const usual = shownValue(path, DEFAULTS.get(path) ?? null)
      const view = { value: shownValue(path, value), source, default: usual, hot: isHot(path) }
      return [
        path,
        restart.has(path) ? { ...view, after_restart: shownValue(path, state.next.values.get(path)?.value) } : view,
      ]
    }),
  )
}

/** Who says what, from the weakest to the strongest; below all of them are the defaults. */
export interface Layers {
  readonly file: Layer
  readonly environment: Layer
  readonly flag: Layer
  /** Set through the API for every node; only what takes effect while running. */
  readonly stored: Layer
}

/** A setting as it holds, and who said so. */
interface Sourced {
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
const DEFAULTS = defaultLayer(CONFIG_KEYS)

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
const isHot = (path: string): boolean => keyAt(CONFIG_KEYS, path)?.hot === true

/** The settings of a layer that take effect while running, or those that do not. */
const partOf = (layer: Layer, part: 'hot' | 'cold'): Layer =>
  new Map([...layer].filter(([path]) => isHot(path) === (part === 'hot')))

/** Equal as far as settings go: they are numbers, words, lists and small objects. */
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** A value as it may be shown: secrets are masked. */
function shownValue(path: string, value: unknown): unknown {
  const mask = keyAt(CONFIG_KEYS, path)?.mask ?? null
  return mask === null || value === undefined ? value : mask(value)
}
