import { parseDuration } from '../../domain/duration.ts'
import { addAll } from '../../domain/long-lists.ts'
import { flawed, parsed, unknownFieldsOf, type Flaw, type Parsed } from '../../domain/input.ts'
import { nearestWord } from '../../domain/nearest-word.ts'
import { type Key, type KeyTree, type OpenGroup } from './key.ts'
import { GROUP_ALIASES, resolveGroupAliases } from './synonyms.ts'

/** A setting with its path in the tree. */
export interface KeyWithPath {
  /** Dotted: `tasks.max_queue`, or `lanes.<name>` in an open group. */
  readonly path: string
  readonly key: Key<unknown>
}

/** The settings of one source, by path. */
export type Layer = ReadonlyMap<string, unknown>

/** The settings read from an input tree. */
export interface ReadLayer {
  readonly values: Layer
  /** Given as 0, which keeps the previous value. */
  readonly kept: readonly string[]
  /** Given as null to remove the stored value; only with `forgetting`. */
  readonly removed: readonly string[]
}

export interface ReadOptions {
  /** Whether durations may be texts such as `30m`. */
  readonly durations?: boolean
  /** Whether null removes a stored setting. */
  readonly allowRemoval?: boolean
}

const isKey = (entry: KeyTree[string]): entry is Key<unknown> => entry.is === 'key'
const isOpen = (entry: KeyTree[string]): entry is OpenGroup<unknown> => entry.is === 'open'
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const joinPath = (prefix: string, name: string): string => (prefix === '' ? name : `${prefix}.${name}`)

/** All settings of a tree in order; of open groups, the default entries. */
export function keysOf(tree: KeyTree, prefix = ''): readonly KeyWithPath[] {
  return Object.entries(tree).flatMap(([name, entry]): readonly KeyWithPath[] => {
    const path = joinPath(prefix, name)
    if (isKey(entry)) return [{ path, key: entry }]
    if (!isOpen(entry)) return keysOf(entry, path)
    return [
      ...Object.entries(entry.defaults).map(([lane, defaultValue]) => ({
        path: joinPath(path, lane),
        key: { ...entry.entry, default: defaultValue },
      })),
      ...keysOf(entry.own, path),
    ]
  })
}

/** The setting at a path, including any entry of an open group. */
export function keyAt(tree: KeyTree, path: string): Key<unknown> | undefined {
  const dot = path.indexOf('.')
  const name = dot === -1 ? path : path.slice(0, dot)
  const entry = Object.hasOwn(tree, name) ? tree[name] : undefined
  if (entry === undefined) return undefined
  if (isKey(entry)) return dot === -1 ? entry : undefined
  if (dot === -1) return undefined
  const childPath = path.slice(dot + 1)
  return isOpen(entry) ? keyIn(entry, childPath) : keyAt(entry, childPath)
}

/** The key of an entry of an open group. */
const keyIn = (group: OpenGroup<unknown>, name: string): Key<unknown> =>
  (Object.hasOwn(group.own, name) ? group.own[name] : undefined) ?? group.entry

/** The default values. */
export const defaultLayer = (tree: KeyTree): Layer => new Map(keysOf(tree).map(({ path, key }) => [path, key.default]))

/** Reads an input tree; fails with all flaws if it has any. */
export function readLayer(tree: KeyTree, given: unknown, reading: ReadOptions = {}): Parsed<ReadLayer> {
  const read = readPartly(tree, given, reading)
  return read.flaws.length > 0 ? flawed(read.flaws) : parsed(read)
}

/** Reads a change of a running configuration; refuses cold settings, which would not take effect. */
export function readChange(tree: KeyTree, given: unknown): Parsed<ReadLayer> {
  const { flaws, ...read } = readPartly(tree, given, { allowRemoval: true })
  const cold = [...read.values.keys(), ...read.removed].filter((path) => keyAt(tree, path)?.hot !== true)
  return flaws.length + cold.length > 0 ? flawed([...flaws, ...cold.map(coldSettingFlaw)]) : parsed(read)
}

const coldSettingFlaw = (path: string): Flaw => ({
  field: path,
  value: undefined,
  message:
    'takes effect only at startup: set it in config.yaml of the data directory, in the environment or with a flag, and restart',
})

/** Reads the valid part of an input tree, and all flaws of the rest. */
export function readPartly(tree: KeyTree, given: unknown, reading: ReadOptions = {}): ReadLayer & Flawed {
  const walk: Walk = { root: tree, reading, values: new Map(), kept: [], removed: [], flaws: [] }
  if (!isObject(given)) {
    walk.flaws.push({ field: 'settings', value: given, message: 'must be an object' })
    return walk
  }
  const meant = resolveGroupAliases(tree, given)
  readGroup(walk, { tree, given: meant.given, prefix: '' })
  return {
    ...walk,
    flaws: [...meant.flaws, ...walk.flaws.map((flaw) => ({ ...flaw, field: meant.originalPath(flaw.field) }))],
  }
}

interface Flawed {
  readonly flaws: readonly Flaw[]
}

interface Walk {
  readonly root: KeyTree
  readonly reading: ReadOptions
  readonly values: Map<string, unknown>
  readonly kept: string[]
  readonly removed: string[]
  readonly flaws: Flaw[]
}

interface GroupInput {
  readonly tree: KeyTree
  readonly given: Readonly<Record<string, unknown>>
  readonly prefix: string
}

function readGroup(walk: Walk, { tree, given, prefix }: GroupInput): void {
  addAll(
    walk.flaws,
    unknownFieldsOf({ given, known: Object.keys(tree), at: prefix }, (name) =>
      unknownKey(walk.root, { tree, prefix, name, value: given[name] }),
    ),
  )
  for (const [name, value] of Object.entries(given)) {
    const entry = Object.hasOwn(tree, name) ? tree[name] : undefined
    const path = joinPath(prefix, name)
    if (entry === undefined || value === undefined) continue
    if (isKey(entry)) readKey(walk, { path, key: entry }, value)
    // An empty group in YAML reads as null.
    else if (value === null && walk.reading.allowRemoval !== true) continue
    else if (!isObject(value))
      walk.flaws.push({ field: path, value, message: 'must be an object', allowed: entryNamesOf(entry) })
    else if (isOpen(entry)) readOpen(walk, { path, group: entry }, value)
    else readGroup(walk, { tree: entry, given: value, prefix: path })
  }
}

const entryNamesOf = (entry: OpenGroup<unknown> | KeyTree): string =>
  Object.keys(isOpen(entry) ? { ...entry.defaults, ...entry.own } : entry).join(', ')

function readOpen(
  walk: Walk,
  { path, group }: { readonly path: string; readonly group: OpenGroup<unknown> },
  given: Readonly<Record<string, unknown>>,
): void {
  const names = Object.keys(given).length
  if (names > MAX_OPEN_GROUP_ENTRIES) {
    walk.flaws.push({
      field: path,
      value: names,
      message: 'has too many names',
      allowed: `up to ${MAX_OPEN_GROUP_ENTRIES}`,
    })
    return
  }
  for (const [name, value] of Object.entries(given)) {
    if (name === '' || name.length > MAX_NAME_LENGTH || UNSTORABLE.test(name))
      walk.flaws.push({
        field: path,
        value: name,
        message: 'contains an invalid name',
        allowed: 'names of 1 to 100 characters',
      })
    else if (value !== undefined)
      readKey(walk, { path: joinPath(path, group.nameOf(name)), key: keyIn(group, name) }, value)
  }
}

const MAX_NAME_LENGTH = 100

/** Maximum number of entries in the input of an open group. */
const MAX_OPEN_GROUP_ENTRIES = 1_000

/** NUL and lone surrogates; with the flag `u`, a complete pair is one character and does not match. */
const UNSTORABLE = /[\0\p{Surrogate}]/u

function readKey(walk: Walk, { path, key }: KeyWithPath, given: unknown): void {
  const { durations = false, allowRemoval = false } = walk.reading
  const value =
    durations && key.unit !== null && typeof given === 'string' ? (parseDuration(given, key.unit) ?? given) : given
  const read = key.parse(path, value)
  if (!read.ok && allowRemoval && given === null) walk.removed.push(path)
  else if (!read.ok) addAll(walk.flaws, read.flaws)
  else if (key.zeroKeeps && read.value === 0) walk.kept.push(path)
  else walk.values.set(path, read.value)
}

/** Maximum number of suggestions. */
const MAX_SUGGESTIONS = 3

interface UnknownKey {
  readonly tree: KeyTree
  readonly prefix: string
  readonly name: string
  readonly value: unknown
}

/**
 * The flaw of an unknown setting, with a suggestion: settings of the same name in other groups, or the nearest name. Open
 * groups are not searched, because they accept any name.
 */
function unknownKey(root: KeyTree, { tree, prefix, name, value }: UnknownKey): Flaw {
  const known = Object.keys(tree)
  const elsewhere = keysOf(root).flatMap(({ path }) =>
    path.endsWith(`.${name}`) && keyAt(root, `${path}x`) === undefined ? [path] : [],
  )
  const suggestion =
    prefix === '' ? (GROUP_ALIASES.get(name)?.group ?? nearestWord(name, known)) : nearestWord(name, known)
  const meant = elsewhere.length > 0 ? elsewhere.slice(0, MAX_SUGGESTIONS).join(' or ') : (suggestion ?? undefined)
  return {
    field: joinPath(prefix, name),
    // An unknown value is not shown, because it may be a password.
    value: typeof value === 'number' || typeof value === 'boolean' ? value : undefined,
    message: `is not a known setting${meant === undefined ? '' : `; did you mean ${meant}?`}`,
    allowed: known.join(', '),
  }
}

/** Converts a complete layer to a deeply frozen tree. */
export function buildTree(tree: KeyTree, layer: Layer, prefix = ''): Readonly<Record<string, unknown>> {
  const entries = Object.entries(tree).map(([name, entry]): readonly [string, unknown] => {
    const path = joinPath(prefix, name)
    if (isKey(entry)) return [name, deepFreeze(layer.get(path) ?? null)]
    if (!isOpen(entry)) return [name, buildTree(entry, layer, path)]
    const childPath = [...layer].filter(([at]) => at.startsWith(`${path}.`))
    return [name, Object.freeze(Object.fromEntries(childPath.map(([at, value]) => [at.slice(path.length + 1), value])))]
  })
  return Object.freeze(Object.fromEntries(entries))
}

function deepFreeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) deepFreeze(part)
  return Object.freeze(value)
}
