import type { Flaw } from '../../domain/input.ts'
import type { KeyTree } from './key.ts'

interface GroupAlias {
  /** The group it is an alias of. */
  readonly group: string
  /** Aliases of its settings. */
  readonly settings: ReadonlyMap<string, string>
}

/** Names of setting groups in other schedulers: tasks of PinchTab and session queues of GoClaw. */
export const GROUP_ALIASES: ReadonlyMap<string, GroupAlias> = new Map([
  [
    'scheduler',
    {
      group: 'tasks',
      settings: new Map([
        ['maxQueueSize', 'max_queue'],
        ['maxQueue', 'max_queue'],
        ['maxPerAgent', 'max_per_agent'],
        ['maxInflight', 'max_inflight'],
        ['maxPerAgentFlight', 'max_per_agent_inflight'],
        ['resultTTLSec', 'result_ttl_seconds'],
      ]),
    },
  ],
  ['queue', { group: 'sessions', settings: new Map() }],
])

type SettingsInput = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is SettingsInput =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Settings with aliases replaced by our names. */
interface ResolvedAliases {
  readonly given: SettingsInput
  /** A group or setting given under two names. */
  readonly flaws: readonly Flaw[]
  /** Translates a path back to the names that were given. */
  readonly originalPath: (path: string) => string
}

/** Replaces aliases of groups and settings with our names. */
export function resolveGroupAliases(tree: KeyTree, given: SettingsInput): ResolvedAliases {
  const names = [...GROUP_ALIASES].filter(
    ([name, { group }]) => Object.hasOwn(given, name) && Object.hasOwn(tree, group) && !Object.hasOwn(tree, name),
  )
  if (names.length === 0) return { given, flaws: [], originalPath: (path) => path }
  const aliases = new Set(names.map(([name]) => name))
  const resolved = Object.fromEntries(Object.entries(given).filter(([name]) => !aliases.has(name)))
  const flaws: Flaw[] = []
  const paths: (readonly [meant: string, given: string])[] = []
  for (const [name, { group, settings }] of names) {
    if (given[group] !== undefined && given[group] !== null) {
      flaws.push(conflictingAliases(name, group))
      continue
    }
    const inside = renameSettings(given[name], settings)
    for (const [one, other] of inside.twice) flaws.push(conflictingAliases(`${name}.${one}`, `${name}.${other}`))
    for (const [to, from] of inside.renamed) paths.push([`${group}.${to}`, `${name}.${from}`])
    paths.push([group, name])
    resolved[group] = inside.given
  }
  return { given: resolved, flaws, originalPath: (path) => originalPathOf(path, paths) }
}

const conflictingAliases = (field: string, other: string): Flaw => ({
  ...{ field, value: undefined, message: `cannot be combined with ${other}: both set the same value` },
})

function renameSettings(group: unknown, settings: ReadonlyMap<string, string>) {
  const duplicates: (readonly [string, string])[] = []
  const renames: (readonly [meant: string, given: string])[] = []
  if (!isObject(group)) return { given: group, renamed: renames, twice: duplicates }
  const names = new Map<string, string>()
  const given: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(group)) {
    const to = settings.get(name) ?? name
    const other = names.get(to)
    if (other !== undefined) duplicates.push([name, other])
    if (to !== name) renames.push([to, name])
    names.set(to, name)
    given[to] = value
  }
  return { given, renamed: renames, twice: duplicates }
}

function originalPathOf(path: string, paths: readonly (readonly [meant: string, given: string])[]): string {
  const found = paths.find(([resolved]) => path === resolved || path.startsWith(`${resolved}.`))
  return found === undefined ? path : found[1] + path.slice(found[0].length)
}
