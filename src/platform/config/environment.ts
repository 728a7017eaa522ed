import { CONFIG_KEYS, isLaneSize } from './keys.ts'
import { defaultLayer, keysOf, type Layer, type KeyWithPath } from './tree.ts'
import { addAll } from '../../domain/long-lists.ts'
import { laneName } from '../../domain/ids.ts'
import { describeFlaw } from '../../domain/input.ts'
import { readLaneSizes } from '../../domain/queue/lanes.ts'
import { nearestWord } from '../../domain/nearest-word.ts'

export type Variables = Readonly<Record<string, string | undefined>>

/** The settings in the environment. */
export interface ReadEnvironment {
  readonly layer: Layer
  /** Reported without preventing the start. */
  readonly warnings: readonly string[]
  /** Any of these prevents the start. */
  readonly flaws: readonly string[]
}

const PREFIX = 'ESCAPEMENT_'

/** Variables that are not settings, including those Kubernetes sets for a service called `escapement`. */
const NOT_SETTINGS = /^ESCAPEMENT_(?:OWNER_KEY|SECRET_KEY|URL|KEY|SEED|TEST_.*|SERVICE_.*|PORT(?:_.*)?|LANES?_.*)$/

/** The variable of a setting: its path in upper case. */
export const variableOf = (path: string): string => PREFIX + path.toUpperCase().replaceAll(/[.-]/g, '_')

const ENVIRONMENT_SETTINGS = keysOf(CONFIG_KEYS).filter(({ path }) => !isLaneSize(path))

/** Variables of settings for all lanes, whose names look like lane sizes. */
const LANE_GROUP_VARIABLES: ReadonlySet<string> = new Set(
  ENVIRONMENT_SETTINGS.flatMap(({ path }) => (path.startsWith('lanes.') ? [variableOf(path)] : [])),
)

/**
 * Reads settings from variables. An invalid lane size is ignored with a warning; any other invalid value is a flaw. An empty
 * variable counts as not set, except that an empty short lane variable counts as an invalid size.
 */
export function readVariables(variables: Variables, lowerLayer: Layer = new Map()): ReadEnvironment {
  const values = new Map<string, unknown>()
  const flaws: string[] = []
  for (const placed of ENVIRONMENT_SETTINGS) {
    const name = variableOf(placed.path)
    const text = variables[name]
    if (text === undefined || text.trim() === '') continue
    readOne(placed, { name, text }, { values, flaws })
  }
  const lanes = readLanes(variables, lowerLayer)
  for (const [name, size] of lanes.sizes) values.set(`lanes.${name}`, size)
  return { layer: values, flaws, warnings: [...lanes.warnings, ...unknownVariableWarnings(variables)] }
}

function readOne(
  { path, key }: KeyWithPath,
  { name, text }: { readonly name: string; readonly text: string },
  result: { readonly values: Map<string, unknown>; readonly flaws: string[] },
): void {
  const read = key.parse(path, key.fromText(text))
  if (!read.ok)
    addAll(
      result.flaws,
      read.flaws.map((flaw) => describeFlaw({ ...flaw, field: `${name} (${flaw.field})` })),
    )
  else if (!(key.zeroKeeps && read.value === 0)) result.values.set(path, read.value)
}

/** Reads `ESCAPEMENT_LANES_MAIN`, and its short form `ESCAPEMENT_LANE_MAIN`, which wins. */
function readLanes(
  variables: Variables,
  lowerLayer: Layer,
): { readonly sizes: ReadonlyMap<string, number>; readonly warnings: readonly string[] } {
  const short: Record<string, string | undefined> = {}
  for (const [name, text] of Object.entries(variables))
    if (name.startsWith('ESCAPEMENT_LANES_') && !LANE_GROUP_VARIABLES.has(name) && text?.trim() !== '')
      short[name.replace('LANES_', 'LANE_')] = text
  for (const [name, text] of Object.entries(variables))
    // An empty short variable does not override the long one; without a long one it causes a warning.
    if (/^(?:ESCAPEMENT|GOCLAW)_LANE_/.test(name) && (text?.trim() !== '' || short[name] === undefined))
      short[name] = text
  const known = [...defaultLayer(CONFIG_KEYS), ...lowerLayer].flatMap(([path, size]) =>
    isLaneSize(path) ? [[laneName(path.slice('lanes.'.length)), size as number] as const] : [],
  )
  // The first call reads only the sizes set here; the second one knows the sizes that the warnings name.
  return { sizes: readLaneSizes(short, new Map()).sizes, warnings: readLaneSizes(short, new Map(known)).warnings }
}

/** Warnings for unknown variables with our prefix, probably misspelled; another program may own them, so these are not flaws. */
function unknownVariableWarnings(variables: Variables): readonly string[] {
  const known = ENVIRONMENT_SETTINGS.map(({ path }) => variableOf(path))
  return Object.keys(variables)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name) && !NOT_SETTINGS.test(name))
    .map((name) => {
      const suggestion = nearestWord(
        name.slice(PREFIX.length),
        known.map((one) => one.slice(PREFIX.length)),
      )
      return `${name} is not a setting and has no effect${suggestion === null ? '' : `; did you mean ${PREFIX}${suggestion}?`}`
    })
}
