import { laneName, type LaneName } from '../ids.ts'
import type { Trigger } from '../run/run.ts'

/** Slots per node. */
export const DEFAULT_LANES = { main: 30, subagent: 50, team: 100, cron: 30, task: 20 } as const

type DefaultLane = keyof typeof DEFAULT_LANES

export const MAIN_LANE = laneName('main')

/** The key of the share limit in the lane settings, so no lane can have this name. */
const RESERVED_LANE_NAME = 'max_org_share'

/** Whether a lane may have this name. */
export const isLaneName = (name: string): boolean => name !== RESERVED_LANE_NAME

/** Aliases of lane names: `delegate` is the older name of `team`. */
const ALIASES: ReadonlyMap<string, DefaultLane> = new Map([['delegate', 'team']])

/** Resolves aliases of lane names; a Map, so that a lane named `constructor` works. */
export const resolveLaneAlias = (name: string): LaneName => laneName(ALIASES.get(name) ?? name)

export type LaneSizes = ReadonlyMap<LaneName, number>

export interface LaneSizesResult {
  readonly sizes: LaneSizes
  /** One sentence per override that was rejected or uses a deprecated name. */
  readonly warnings: readonly string[]
}

const DEFAULT_LANE_OF: Record<Trigger, DefaultLane> = {
  message: 'main',
  webhook: 'main',
  schedule: 'cron',
  catchup: 'cron',
  heartbeat: 'cron',
  manual: 'cron',
  task: 'task',
  // A retry keeps the lane of its run; this applies only when that is unknown.
  retry: 'main',
}

/** The lane of a run that names none. */
export function defaultLane(run: {
  readonly trigger: Trigger
  readonly hasParent: boolean
  readonly retriedLane?: LaneName
}): LaneName {
  if (run.trigger === 'retry' && run.retriedLane !== undefined) return run.retriedLane
  if (run.trigger === 'message' && run.hasParent) return laneName('subagent')
  return laneName(DEFAULT_LANE_OF[run.trigger])
}

/** The lane that serves a name: the lane itself, its alias, or `main` when it does not exist. */
export function resolveLane(name: string, lanes: ReadonlyMap<LaneName, unknown>): LaneName {
  const real = resolveLaneAlias(name)
  return lanes.has(real) ? real : MAIN_LANE
}

/**
 * Reads lane sizes from variables named `ESCAPEMENT_LANE_<NAME>`. Only integers above 0 are accepted; other values
 * keep the current size, with a warning. `…_DELEGATE` is read when `…_TEAM` is unset or invalid, `GOCLAW_LANE_*`
 * last.
 */
export function readLaneSizes(
  variables: Readonly<Record<string, string | undefined>>,
  base?: LaneSizes,
): LaneSizesResult {
  const sizes = new Map(base ?? Object.entries(DEFAULT_LANES).map(([name, size]) => [laneName(name), size]))
  const warnings = Object.keys(variables).flatMap((variable) =>
    VARIABLE.exec(variable)?.[1]?.toLowerCase() === RESERVED_LANE_NAME
      ? [`${variable} is not the name of a lane and is ignored; did you mean ESCAPEMENT_LANES_MAX_ORG_SHARE?`]
      : [],
  )
  for (const lane of lanesNamedIn(variables, sizes)) {
    const found = firstValid(spellingsOf(lane), variables)
    for (const bad of found.refused)
      warnings.push(
        `${bad}=${JSON.stringify(variables[bad])} is not a whole number above 0; lane ${lane} ` +
          (found.taken === undefined ? `keeps ${sizes.get(lane) ?? 'its default'}` : `uses ${found.taken} instead`),
      )
    if (found.taken === undefined) continue
    sizes.set(lane, Number(variables[found.taken]))
    if (found.taken.startsWith('GOCLAW_'))
      warnings.push(`${found.taken} is deprecated; use ESCAPEMENT_LANE_${lane.toUpperCase()}`)
  }
  return { sizes, warnings }
}

const VARIABLE = /^(?:ESCAPEMENT|GOCLAW)_LANE_([A-Z0-9_]+)$/

function lanesNamedIn(variables: Readonly<Record<string, string | undefined>>, known: LaneSizes): readonly LaneName[] {
  const named = Object.keys(variables).flatMap((variable) => {
    const name = VARIABLE.exec(variable)?.[1]?.toLowerCase()
    return name === undefined || !isLaneName(name) ? [] : [resolveLaneAlias(name)]
  })
  return [...new Set([...known.keys(), ...named])]
}

function spellingsOf(lane: LaneName): readonly string[] {
  const aliases = [...ALIASES].flatMap(([alias, real]) => (real === lane ? [alias] : []))
  const names = [lane, ...aliases].map((name) => name.toUpperCase())
  return ['ESCAPEMENT', 'GOCLAW'].flatMap((prefix) => names.map((name) => `${prefix}_LANE_${name}`))
}

/** Returns the first valid spelling, and the invalid ones before it. */
function firstValid(
  spellings: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
): { readonly taken?: string; readonly refused: readonly string[] } {
  const refused: string[] = []
  for (const spelling of spellings) {
    const text = variables[spelling]
    if (text === undefined) continue
    if (/^\d{1,9}$/.test(text.trim()) && Number(text) > 0) return { taken: spelling, refused }
    refused.push(spelling)
  }
  return { refused }
}

/** A share of 1 does not limit anything; it also applies while the deployment has only one org. */
export const NO_ORG_SHARE = 1

/** A product such as 100 × 0.57 is slightly below the intended whole number. */
const ROUNDING = 1e-9

/** The maximum slots of a lane that one org may hold on a node: at least 1, so that its runs can start at all. */
export const maxOrgSlots = (size: number, share: number): number =>
  share >= NO_ORG_SHARE ? size : Math.min(size, Math.max(1, Math.floor(size * share + ROUNDING)))

/** The number of free slots reserved for orgs that hold none in the lane. */
export const reservedSlots = (size: number, share: number): number =>
  share >= NO_ORG_SHARE || size < 2 ? 0 : Math.max(1, Math.floor(size / 10))

/** The slots of a lane on a node, and how many the org holds. */
export interface OrgInLane {
  readonly size: number
  readonly free: number
  /** The slots that the org holds. */
  readonly held: number
}

/** How many more runs of the org may start in the lane if no other org starts any. */
export function orgRoom({ size, free, held }: OrgInLane, share: number): number {
  const first = held === 0 && free > 0 ? 1 : 0
  const room = Math.max(first, free - reservedSlots(size, share))
  return Math.max(0, Math.min(room, maxOrgSlots(size, share) - held))
}
