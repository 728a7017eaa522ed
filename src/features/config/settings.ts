import { ENGINE_KEYS } from '../../platform/config/engine-keys.ts'
import { inCode, layerOf, type SettingsOf } from '../../platform/config/in-code.ts'
import type { Config } from '../../platform/config/keys.ts'
import { crossFlaws } from '../../contract/config/rules.ts'
import { buildTree, defaultLayer, readPartly, type Layer } from '../../platform/config/tree.ts'
import { flawed, parsed, type Parsed } from '../../domain/input.ts'
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../domain/run/retry-policy.ts'

type Read = SettingsOf<typeof ENGINE_KEYS>

/** The settings of the engine, complete and checked. Never changed, only replaced. */
export interface EngineSettings extends Omit<Read, 'retry'> {
  /** For agent turns where neither the schedule nor the agent names a policy. */
  readonly retry: RetryPolicy
}

/** The settings when nobody gives any. */
export const DEFAULT_SETTINGS: EngineSettings = settingsOfLayer(defaultLayer(ENGINE_KEYS))

/**
 * Reads a change of the settings, whole or not at all. What is missing stays, and so does a size, a limit or a time to
 * live of 0, which would mean that nothing works; where 0 means "none" it is a value. Negative numbers and fractions are
 * flaws everywhere.
 */
export function parseSettings(value: unknown, current: EngineSettings = DEFAULT_SETTINGS): Parsed<EngineSettings> {
  const read = readPartly(ENGINE_KEYS, value)
  const all = new Map([...layerOf(ENGINE_KEYS, current), ...read.values])
  const flaws = [...read.flaws, ...crossFlaws(all)]
  return flaws.length > 0 ? flawed(flaws) : parsed(settingsOfLayer(all))
}

/** What the engine needs of the configuration of a server. */
export const settingsOf = (config: Config): EngineSettings =>
  engineSettings({ ...config, drain_grace_seconds: config.server.drain_grace_seconds })

function settingsOfLayer(all: Layer): EngineSettings {
  return engineSettings(buildTree(ENGINE_KEYS, all))
}

function engineSettings(values: Readonly<Record<string, unknown>>): EngineSettings {
  const read = inCode(ENGINE_KEYS, values)
  return Object.freeze({ ...read, retry: retryPolicy(read.retry) })
}

/** The default itself where nothing differs from it: a run that has it is stored without a policy. */
function retryPolicy(given: Read['retry']): RetryPolicy {
  const policy = Object.freeze({ ...DEFAULT_RETRY_POLICY, ...given })
  const names = Object.keys(given) as readonly (keyof typeof given)[]
  return names.every((name) => given[name] === DEFAULT_RETRY_POLICY[name]) ? DEFAULT_RETRY_POLICY : policy
}
