import { laneName, type LaneName } from '../ids.ts'
import type { Trigger } from '../run/run.ts'

/** Slots per node. */
export const DEFAULT_LANES = { main: 30, subagent: 50, team: 100, cron: 30, task: 20 } as const

type DefaultLane = keyof typeof DEFAULT_LANES

export const MAIN_LANE = laneName('main')

/** What the settings call the limit of each org in all lanes; no lane can have that name. */
const NOT_A_LANE = 'max_org_share'

/** Whether a lane may have this name. */
export const isLaneName = (name: string): boolean => name !== NOT_A_LANE

/** An older name of `team`, still understood wherever a lane is named. */
const ALIASES: ReadonlyMap<string, DefaultLane> = new Map([['delegate', 'team']])

/** The lane that a name means: itself, or what it is an alias of. `constructor` is a name like any other. */
export const meantLane = (name: string): LaneName => laneName(ALIASES.get(name) ?? name)

export type LaneSizes = ReadonlyMap<LaneName, number>

export interface LaneReading {
  readonly sizes: LaneSizes
  /** One sentence for each override that was not taken, or was taken under an old name. */
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
  // A retry keeps its run's lane; this is only where a retry of a run without one goes.
  retry: 'main',
}

/** The lane a run takes when it names none. */
export function defaultLane(run: {
  readonly trigger: Trigger
  readonly hasParent: boolean
  readonly retriedLane?: LaneName
}): LaneName {
  if (run.trigger === 'retry' && run.retriedLane !== undefined) return run.retriedLane
  if (run.trigger === 'message' && run.hasParent) return laneName('subagent')
  return laneName(DEFAULT_LANE_OF[run.trigger])
}

/** The lane that serves a name: itself, what it is an alias of, or `main` when nobody has created it. */
export function resolveLane(name: string, lanes: ReadonlyMap<LaneName, unknown>): LaneName {
  const real = meantLane(name)
  return lanes.has(real) ? real : MAIN_LANE
}

/**
 * Lane sizes from variables named `ESCAPEMENT_LANE_<NAME>`. Only integers above 0 count; anything else keeps what was
 * there, with a warning. `…_DELEGATE` is read when `…_TEAM` is unset or invalid, `GOCLAW_LANE_*` last of all.
 */
export function readLaneSizes(variables: Readonly<Record<string, string | undefined>>, base?: LaneSizes): LaneReading {
  const sizes = new Map(base ?? Object.entries(DEFAULT_LANES).map(([name, size]) => [laneName(name), size]))
  const warnings = Object.keys(variables).flatMap((variable) =>
    VARIABLE.exec(variable)?.[1]?.toLowerCase() === NOT_A_LANE
      ? [`${variable} names no lane and does nothing; did you mean ESCAPEMENT_LANES_MAX_ORG_SHARE?`]
      : [],
  )
  for (const lane of lanesNamedIn(variables, sizes)) {
    const found = firstValid(spellingsOf(lane), variables)
    for (const bad of found.refused)
      warnings.push(
        `${bad}=${JSON.stringify(variables[bad])} is not a whole number above 0; lane ${lane} ` +
          (found.taken === undefined ? `keeps ${sizes.get(lane) ?? 'its default'}` : `takes ${found.taken} instead`),
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
    return name === undefined || !isLaneName(name) ? [] : [meantLane(name)]
  })
  return [...new Set([...known.keys(), ...named])]
}

function spellingsOf(lane: LaneName): readonly string[] {
  const aliases = [...ALIASES].flatMap(([alias, real]) => (real === lane ? [alias] : []))
  const names = [lane, ...aliases].map((name) => name.toUpperCase())
  return ['ESCAPEMENT', 'GOCLAW'].flatMap((prefix) => names.map((name) => `${prefix}_LANE_${name}`))
}

/** Goes through the spellings in order and stops at the first that is valid; invalid ones before it are reported. */
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
