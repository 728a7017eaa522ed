import { ENGINE_KEYS } from '../../platform/config/engine-keys.ts'
import { camelCaseSettings, layerOf, type SettingsOf } from '../../platform/config/in-code.ts'
import type { Config } from '../../platform/config/keys.ts'
import { crossFlaws } from '../../platform/config/view.ts'
import { buildTree, defaultLayer, readPartly, type Layer } from '../../platform/config/tree.ts'
import { flawed, parsed, type Parsed } from '../../domain/input.ts'
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../domain/run/retry-policy.ts'

type EngineValues = SettingsOf<typeof ENGINE_KEYS>

/** The complete and validated settings of the engine. Immutable; replaced on change. */
export interface EngineSettings extends Omit<EngineValues, 'retry'> {
  /** The retry policy of runs whose schedule and agent set none. */
  readonly retry: RetryPolicy
}

/** The default settings. */
export const DEFAULT_SETTINGS: EngineSettings = settingsOfLayer(defaultLayer(ENGINE_KEYS))

/**
 * Parses a change of the settings, completely or not at all. Missing settings stay; so does a size, a limit or a time
 * to live of 0, which would stop everything. Where 0 means "none", it is a value. Negative numbers and fractions are
 * always flaws.
 */
export function parseSettings(value: unknown, current: EngineSettings = DEFAULT_SETTINGS): Parsed<EngineSettings> {
  const read = readPartly(ENGINE_KEYS, value)
  const all = new Map([...layerOf(ENGINE_KEYS, current), ...read.values])
  const flaws = [...read.flaws, ...crossFlaws(all)]
  return flaws.length > 0 ? flawed(flaws) : parsed(settingsOfLayer(all))
}

/** The engine settings of a server configuration. */
export const settingsOf = (config: Config): EngineSettings =>
  engineSettings({ ...config, drain_grace_seconds: config.server.drain_grace_seconds })

function settingsOfLayer(all: Layer): EngineSettings {
  return engineSettings(buildTree(ENGINE_KEYS, all))
}

function engineSettings(values: Readonly<Record<string, unknown>>): EngineSettings {
  const read = camelCaseSettings(ENGINE_KEYS, values)
  return Object.freeze({ ...read, retry: retryPolicy(read.retry) })
}

/**
 * Returns the default object itself if nothing differs, because a run with the default policy is stored without one.
 */
function retryPolicy(given: EngineValues['retry']): RetryPolicy {
  const policy = Object.freeze({ ...DEFAULT_RETRY_POLICY, ...given })
  const names = Object.keys(given) as readonly (keyof typeof given)[]
  return names.every((name) => given[name] === DEFAULT_RETRY_POLICY[name]) ? DEFAULT_RETRY_POLICY : policy
}
