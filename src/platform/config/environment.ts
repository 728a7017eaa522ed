import { CONFIG_KEYS, isLaneSize } from './keys.ts'
import { defaultLayer, keysOf, type Layer, type PlacedKey } from './tree.ts'
import { addAll } from '../../domain/long-lists.ts'
import { laneName } from '../../domain/ids.ts'
import { describeFlaw } from '../../domain/input.ts'
import { readLaneSizes } from '../../domain/queue/lanes.ts'
import { nearestWord } from '../../domain/nearest-word.ts'

export type Variables = Readonly<Record<string, string | undefined>>

/** What the environment says about settings. */
export interface ReadEnvironment {
  readonly layer: Layer
  /** Nobody has to act on these. */
  readonly warnings: readonly string[]
  /** With one of these nothing starts. */
  readonly flaws: readonly string[]
}

const PREFIX = 'ESCAPEMENT_'

/** Names that are not settings, and names that others make up: a service called `escapement` gives rise to some. */
const NOT_SETTINGS = /^ESCAPEMENT_(?:OWNER_KEY|SECRET_KEY|URL|KEY|SEED|TEST_.*|SERVICE_.*|PORT(?:_.*)?|LANES?_.*)$/

/** The variable that sets a setting: its path in upper case. */
export const variableOf = (path: string): string => PREFIX + path.toUpperCase().replaceAll(/[.-]/g, '_')

const PLACED = keysOf(CONFIG_KEYS).filter(({ path }) => !isLaneSize(path))

/** Settings of all lanes, whose variables look like the sizes of lanes. */
const OF_ALL_LANES: ReadonlySet<string> = new Set(
  PLACED.flatMap(({ path }) => (path.startsWith('lanes.') ? [variableOf(path)] : [])),
)

/**
 * Reads settings from variables. Lanes follow their own rule: what is no size keeps what was there, with a warning. Any
 * other value that its setting does not allow is a flaw. A variable that is set to nothing is not set; only of the short
 * names of lanes nothing is no size either.
 */
export function readVariables(variables: Variables, below: Layer = new Map()): ReadEnvironment {
  const values = new Map<string, unknown>()
  const flaws: string[] = []
  for (const placed of PLACED) {
    const name = variableOf(placed.path)
    const text = variables[name]
    if (text === undefined || text.trim() === '') continue
    readOne(placed, { name, text }, { values, flaws })
  }
  const lanes = readLanes(variables, below)
  for (const [name, size] of lanes.sizes) values.set(`lanes.${name}`, size)
  return { layer: values, flaws, warnings: [...lanes.warnings, ...strangers(variables)] }
}

function readOne(
  { path, key }: PlacedKey,
  { name, text }: { readonly name: string; readonly text: string },
  into: { readonly values: Map<string, unknown>; readonly flaws: string[] },
): void {
  const read = key.parse(path, key.fromText(text))
  if (!read.ok)
    addAll(
      into.flaws,
      read.flaws.map((flaw) => describeFlaw({ ...flaw, field: `${name} (${flaw.field})` })),
    )
  else if (!(key.zeroKeeps && read.value === 0)) into.values.set(path, read.value)
}

/** `ESCAPEMENT_LANES_MAIN` is the path; `ESCAPEMENT_LANE_MAIN` says the same in short and wins. */
function readLanes(
  variables: Variables,
  below: Layer,
): { readonly sizes: ReadonlyMap<string, number>; readonly warnings: readonly string[] } {
  const short: Record<string, string | undefined> = {}
  for (const [name, text] of Object.entries(variables))
    if (name.startsWith('ESCAPEMENT_LANES_') && !OF_ALL_LANES.has(name) && text?.trim() !== '')
      short[name.replace('LANES_', 'LANE_')] = text
  for (const [name, text] of Object.entries(variables))
    // What is set to nothing takes nothing away from the path, and is warned of where it stands alone.
    if (/^(?:ESCAPEMENT|GOCLAW)_LANE_/.test(name) && (text?.trim() !== '' || short[name] === undefined))
      short[name] = text
  const known = [...defaultLayer(CONFIG_KEYS), ...below].flatMap(([path, size]) =>
    isLaneSize(path) ? [[laneName(path.slice('lanes.'.length)), size as number] as const] : [],
  )
  // Only what was taken counts as said by the environment; the warnings name what is kept instead.
  return { sizes: readLaneSizes(short, new Map()).sizes, warnings: readLaneSizes(short, new Map(known)).warnings }
}

/** Variables that look like ours and are nothing: probably misspelt. They may be somebody else's, so nobody is stopped. */
function strangers(variables: Variables): readonly string[] {
  const known = PLACED.map(({ path }) => variableOf(path))
  return Object.keys(variables)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name) && !NOT_SETTINGS.test(name))
    .map((name) => {
      const near = nearestWord(
        name.slice(PREFIX.length),
        known.map((one) => one.slice(PREFIX.length)),
      )
      return `${name} is not a setting and does nothing${near === null ? '' : `; did you mean ${PREFIX}${near}?`}`
    })
}
