import type { Flaw } from '../../domain/input.ts'
import type { KeyTree } from './key.ts'

interface Synonym {
  /** The group that is meant. */
  readonly group: string
  /** Settings that have other names in it. */
  readonly settings: ReadonlyMap<string, string>
}

/** Names under which other schedulers keep groups of settings: PinchTab's tasks, and GoClaw's queue of a session. */
export const GROUP_SYNONYMS: ReadonlyMap<string, Synonym> = new Map([
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

type Given = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Settings under the names of this project. */
interface Meant {
  readonly given: Given
  /** Two names of one group, or of one setting, at once. */
  readonly flaws: readonly Flaw[]
  /** A path by the names that were given. */
  readonly asGiven: (path: string) => string
}

/** Puts groups that were given under the name of another scheduler where they belong. */
export function withoutSynonyms(tree: KeyTree, given: Given): Meant {
  const names = [...GROUP_SYNONYMS].filter(
    ([name, { group }]) => Object.hasOwn(given, name) && Object.hasOwn(tree, group) && !Object.hasOwn(tree, name),
  )
  if (names.length === 0) return { given, flaws: [], asGiven: (path) => path }
  const foreign = new Set(names.map(([name]) => name))
  const meant = Object.fromEntries(Object.entries(given).filter(([name]) => !foreign.has(name)))
  const flaws: Flaw[] = []
  const paths: (readonly [meant: string, given: string])[] = []
  for (const [name, { group, settings }] of names) {
    if (given[group] !== undefined && given[group] !== null) {
      flaws.push(together(name, group))
      continue
    }
    const inside = renamed(given[name], settings)
    for (const [one, other] of inside.twice) flaws.push(together(`${name}.${one}`, `${name}.${other}`))
    for (const [to, from] of inside.renamed) paths.push([`${group}.${to}`, `${name}.${from}`])
    paths.push([group, name])
    meant[group] = inside.given
  }
  return { given: meant, flaws, asGiven: (path) => pathAsGiven(path, paths) }
}

const together = (field: string, other: string): Flaw => ({
  ...{ field, value: undefined, message: `cannot be given together with ${other}: both mean the same` },
})

function renamed(group: unknown, settings: ReadonlyMap<string, string>) {
  const twice: (readonly [string, string])[] = []
  const renames: (readonly [meant: string, given: string])[] = []
  if (!isObject(group)) return { given: group, renamed: renames, twice }
  const names = new Map<string, string>()
  const given: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(group)) {
    const to = settings.get(name) ?? name
    const other = names.get(to)
    if (other !== undefined) twice.push([name, other])
    if (to !== name) renames.push([to, name])
    names.set(to, name)
    given[to] = value
  }
  return { given, renamed: renames, twice }
}

function pathAsGiven(path: string, paths: readonly (readonly [meant: string, given: string])[]): string {
  const found = paths.find(([meant]) => path === meant || path.startsWith(`${meant}.`))
  return found === undefined ? path : found[1] + path.slice(found[0].length)
}
