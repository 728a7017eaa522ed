import { addAll } from '../../domain/long-lists.ts'
import { flawed, parsed, unknownFieldsOf, type Flaw, type Parsed } from '../../domain/input.ts'
import { nearestWord } from '../../domain/nearest-word.ts'
import { parseDuration } from '../../domain/duration.ts'
import type { Key, KeyTree, OpenGroup } from './key.ts'
import { GROUP_SYNONYMS, withoutSynonyms } from './synonyms.ts'

/** A setting with its place in the tree. */
export interface PlacedKey {
  /** With dots: `tasks.max_queue`; of an open group `lanes.<name>`. */
  readonly path: string
  readonly key: Key<unknown>
}

/** Settings that somebody gave, by path. A layer of the configuration. */
export type Layer = ReadonlyMap<string, unknown>

/** What was read of a tree that somebody gave. */
export interface ReadLayer {
  readonly values: Layer
  /** Given as 0 where that keeps what is there. */
  readonly kept: readonly string[]
  /** Given as null where null is no value: to be taken back. Only where that was asked for. */
  readonly forgotten: readonly string[]
}

export interface Reading {
  /** Whether lengths of time may be texts such as `30m`. */
  readonly durations?: boolean
  /** Whether null takes a setting back. */
  readonly forgetting?: boolean
}

const isKey = (entry: KeyTree[string]): entry is Key<unknown> => entry.is === 'key'
const isOpen = (entry: KeyTree[string]): entry is OpenGroup<unknown> => entry.is === 'open'
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const below = (prefix: string, name: string): string => (prefix === '' ? name : `${prefix}.${name}`)

/** Every setting of a tree, in its order; those of open groups by the names they have by default. */
export function keysOf(tree: KeyTree, prefix = ''): readonly PlacedKey[] {
  return Object.entries(tree).flatMap(([name, entry]): readonly PlacedKey[] => {
    const path = below(prefix, name)
    if (isKey(entry)) return [{ path, key: entry }]
    if (!isOpen(entry)) return keysOf(entry, path)
    return [
      ...Object.entries(entry.defaults).map(([lane, usual]) => ({
        path: below(path, lane),
        key: { ...entry.entry, default: usual },
      })),
      ...keysOf(entry.own, path),
    ]
  })
}

/** The setting at a path, also of a name in an open group that nobody has used before. */
export function keyAt(tree: KeyTree, path: string): Key<unknown> | undefined {
  const dot = path.indexOf('.')
  const name = dot === -1 ? path : path.slice(0, dot)
  const entry = Object.hasOwn(tree, name) ? tree[name] : undefined
  if (entry === undefined) return undefined
  if (isKey(entry)) return dot === -1 ? entry : undefined
  if (dot === -1) return undefined
  const inside = path.slice(dot + 1)
  return isOpen(entry) ? keyIn(entry, inside) : keyAt(entry, inside)
}

/** The key that reads a name of an open group. */
const keyIn = (group: OpenGroup<unknown>, name: string): Key<unknown> =>
  (Object.hasOwn(group.own, name) ? group.own[name] : undefined) ?? group.entry

/** What holds when nobody gives anything. */
export const defaultLayer = (tree: KeyTree): Layer => new Map(keysOf(tree).map(({ path, key }) => [path, key.default]))

/** Reads a tree that somebody gave, whole or not at all, and says everything that is wrong with it. */
export function readLayer(tree: KeyTree, given: unknown, reading: Reading = {}): Parsed<ReadLayer> {
  const read = readPartly(tree, given, reading)
  return read.flaws.length > 0 ? flawed(read.flaws) : parsed(read)
}

/** Reads a change of what holds while running; settings that only a start takes in would be promised and not kept. */
export function readChange(tree: KeyTree, given: unknown): Parsed<ReadLayer> {
  const { flaws, ...read } = readPartly(tree, given, { forgetting: true })
  const cold = [...read.values.keys(), ...read.forgotten].filter((path) => keyAt(tree, path)?.hot !== true)
  return flaws.length + cold.length > 0 ? flawed([...flaws, ...cold.map(onlyAtStart)]) : parsed(read)
}

const onlyAtStart = (path: string): Flaw => ({
  field: path,
  value: undefined,
  message:
    'takes effect at a start only: set it in config.yaml of the data directory, the environment or by a flag, and start again',
})

/** What can be read of a tree that somebody gave, and everything that is wrong with the rest. */
export function readPartly(tree: KeyTree, given: unknown, reading: Reading = {}): ReadLayer & Flawed {
  const walk: Walk = { root: tree, reading, values: new Map(), kept: [], forgotten: [], flaws: [] }
  if (!isObject(given)) {
    walk.flaws.push({ field: 'settings', value: given, message: 'must be an object' })
    return walk
  }
  const meant = withoutSynonyms(tree, given)
  readGroup(walk, { tree, given: meant.given, prefix: '' })
  return {
    ...walk,
    flaws: [...meant.flaws, ...walk.flaws.map((flaw) => ({ ...flaw, field: meant.asGiven(flaw.field) }))],
  }
}

interface Flawed {
  readonly flaws: readonly Flaw[]
}

interface Walk {
  readonly root: KeyTree
  readonly reading: Reading
  readonly values: Map<string, unknown>
  readonly kept: string[]
  readonly forgotten: string[]
  readonly flaws: Flaw[]
}

interface Place {
  readonly tree: KeyTree
  readonly given: Readonly<Record<string, unknown>>
  readonly prefix: string
}

function readGroup(walk: Walk, { tree, given, prefix }: Place): void {
  addAll(
    walk.flaws,
    unknownFieldsOf({ given, known: Object.keys(tree), at: prefix }, (name) =>
      unknownKey(walk.root, { tree, prefix, name, value: given[name] }),
    ),
  )
  for (const [name, value] of Object.entries(given)) {
    const entry = Object.hasOwn(tree, name) ? tree[name] : undefined
    const path = below(prefix, name)
    if (entry === undefined || value === undefined) continue
    if (isKey(entry)) readKey(walk, { path, key: entry }, value)
    // In a file, a group with nothing in it reads as null.
    else if (value === null && walk.reading.forgetting !== true) continue
    else if (!isObject(value))
      walk.flaws.push({ field: path, value, message: 'must be an object', allowed: insideOf(entry) })
    else if (isOpen(entry)) readOpen(walk, { path, group: entry }, value)
    else readGroup(walk, { tree: entry, given: value, prefix: path })
  }
}

const insideOf = (entry: OpenGroup<unknown> | KeyTree): string =>
  Object.keys(isOpen(entry) ? { ...entry.defaults, ...entry.own } : entry).join(', ')

function readOpen(
  walk: Walk,
  { path, group }: { readonly path: string; readonly group: OpenGroup<unknown> },
  given: Readonly<Record<string, unknown>>,
): void {
  const names = Object.keys(given).length
  if (names > MAX_NAMES) {
    walk.flaws.push({ field: path, value: names, message: 'has too many names', allowed: `up to ${MAX_NAMES}` })
    return
  }
  for (const [name, value] of Object.entries(given)) {
    if (name === '' || name.length > LONGEST_NAME || UNSTORABLE.test(name))
      walk.flaws.push({
        field: path,
        value: name,
        message: 'has a name nobody can use',
        allowed: '1 to 100 characters',
      })
    else if (value !== undefined)
      readKey(walk, { path: below(path, group.nameOf(name)), key: keyIn(group, name) }, value)
  }
}

const LONGEST_NAME = 100

/** So many names a group may be given at once in which any name will do. */
const MAX_NAMES = 1_000

/** NUL, and halves of surrogate pairs: with the flag `u` a whole pair is one character. */
const UNSTORABLE = /[\0\p{Surrogate}]/u

function readKey(walk: Walk, { path, key }: PlacedKey, given: unknown): void {
  const { durations = false, forgetting = false } = walk.reading
  const value =
    durations && key.unit !== null && typeof given === 'string' ? (parseDuration(given, key.unit) ?? given) : given
  const read = key.parse(path, value)
  if (!read.ok && forgetting && given === null) walk.forgotten.push(path)
  else if (!read.ok) addAll(walk.flaws, read.flaws)
  else if (key.zeroKeeps && read.value === 0) walk.kept.push(path)
  else walk.values.set(path, read.value)
}

/** Of a name that many settings have, so many are named. */
const MAX_MEANT = 3

interface Stranger {
  readonly tree: KeyTree
  readonly prefix: string
  readonly name: string
  readonly value: unknown
}

/**
 * A key that nobody knows, with the one that was probably meant: of that very name elsewhere, or spelt like it. Names in
 * open groups, where any name would do, are nobody's misspelling.
 */
function unknownKey(root: KeyTree, { tree, prefix, name, value }: Stranger): Flaw {
  const known = Object.keys(tree)
  const elsewhere = keysOf(root).flatMap(({ path }) =>
    path.endsWith(`.${name}`) && keyAt(root, `${path}x`) === undefined ? [path] : [],
  )
  const near = prefix === '' ? (GROUP_SYNONYMS.get(name)?.group ?? nearestWord(name, known)) : nearestWord(name, known)
  const meant = elsewhere.length > 0 ? elsewhere.slice(0, MAX_MEANT).join(' or ') : (near ?? undefined)
  return {
    field: below(prefix, name),
    // Whatever was meant by it, it may be a password.
    value: typeof value === 'number' || typeof value === 'boolean' ? value : undefined,
    message: `is not a known setting${meant === undefined ? '' : `; did you mean ${meant}?`}`,
    allowed: known.join(', '),
  }
}

/** The settings of a complete layer as a tree, frozen through and through. */
export function buildTree(tree: KeyTree, layer: Layer, prefix = ''): Readonly<Record<string, unknown>> {
  const entries = Object.entries(tree).map(([name, entry]): readonly [string, unknown] => {
    const path = below(prefix, name)
    if (isKey(entry)) return [name, deepFreeze(layer.get(path) ?? null)]
    if (!isOpen(entry)) return [name, buildTree(entry, layer, path)]
    const inside = [...layer].filter(([at]) => at.startsWith(`${path}.`))
    return [name, Object.freeze(Object.fromEntries(inside.map(([at, value]) => [at.slice(path.length + 1), value])))]
  })
  return Object.freeze(Object.fromEntries(entries))
}

function deepFreeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) deepFreeze(part)
  return Object.freeze(value)
}
