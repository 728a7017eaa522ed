import { z } from 'zod'
import { readWith } from '../../api/fields.ts'
import { type Flaw, parsed } from '../../domain/input.ts'
import type { KeyTree } from './key.ts'
import { CONFIG_KEYS } from './keys.ts'
import { type Layer, readChange } from './tree.ts'

/** Checks rules between settings, on a complete layer. */
export function crossFlaws(all: Layer): readonly Flaw[] {
  return [
    ...compare(all, {
      field: 'node.renew_ms',
      below: 'node.lease_ms',
      why: 'a lease must be renewed before it expires',
    }),
    ...compare(all, { field: 'retry.base_ms', upTo: 'retry.max_ms', why: 'the first delay cannot exceed the maximum' }),
  ]
}

function compare(
  all: Layer,
  {
    field,
    why,
    ...limit
  }: { readonly field: string; readonly why: string } & ({ readonly below: string } | { readonly upTo: string }),
): readonly Flaw[] {
  const value = all.get(field)
  const other = 'below' in limit ? limit.below : limit.upTo
  const bound = all.get(other)
  if (typeof value !== 'number' || typeof bound !== 'number') return []
  if ('below' in limit ? value < bound : value <= bound) return []
  const name = other.slice(other.indexOf('.') + 1)
  return [{ field, value, message: `must ${'below' in limit ? 'be below' : 'not be above'} ${name}, ${bound}: ${why}` }]
}

/** Where the value of a setting comes from, from lowest to highest precedence. */
export const CONFIG_SOURCES = ['default', 'file', 'environment', 'flag', 'stored'] as const
export type ConfigSource = (typeof CONFIG_SOURCES)[number]

/** The effective value of a setting. Secrets are masked. */
export interface ConfigValueView {
  readonly value: unknown
  readonly source: ConfigSource
  readonly default: unknown
  /** Whether a change takes effect while running. */
  readonly hot: boolean
  /** The value after the next start, if different. */
  readonly after_restart?: unknown
}

/** The configuration of the responding node, by path (`tasks.max_queue`). */
export interface ConfigView {
  /** The configuration file; null: none. */
  readonly file: string | null
  readonly values: Readonly<Record<string, ConfigValueView>>
}

export const configViewSchema: z.ZodType<ConfigView> = z.strictObject({
  file: z.string().nullable(),
  values: z.record(
    z.string(),
    z.strictObject({
      value: z.unknown(),
      source: z.enum(CONFIG_SOURCES),
      default: z.unknown(),
      hot: z.boolean(),
      after_restart: z.unknown().optional(),
    }),
  ),
})

/** The schema of the file: all settings, each optional. */
export const configSchema = schemaOf(CONFIG_KEYS, () => true)

/**
 * The schema of a change through the API: hot settings only; null removes the stored value. It is read like the file, to
 * support aliases and to suggest the right group of a misplaced setting.
 */
export const configPatchSchema = schemaOf(CONFIG_KEYS, (hot) => hot).check(
  readWith((_field, value) => {
    const read = readChange(CONFIG_KEYS, value)
    return read.ok ? parsed(value as ConfigPatch) : read
  }),
)
export type ConfigPatch = Readonly<Record<string, unknown>>

function schemaOf(
  tree: KeyTree,
  isWanted: (hot: boolean) => boolean,
  /** The schema of entries with other names; left out: none are allowed. */
  otherNames?: z.ZodType,
): z.ZodType<ConfigPatch> {
  const shape: Record<string, z.ZodType> = {}
  for (const [name, entry] of Object.entries(tree)) {
    if (entry.is === 'key') {
      if (isWanted(entry.hot)) shape[name] = entry.schema.nullable().optional().describe(entry.summary)
    } else if (entry.is === 'open') {
      if (isWanted(entry.entry.hot))
        shape[name] = schemaOf(entry.own, isWanted, entry.entry.schema.nullable()).optional()
    } else if (keysWanted(entry, isWanted).length > 0) shape[name] = schemaOf(entry, isWanted).optional()
  }
  // Unknown names are documented as forbidden but passed on, so that the final check can suggest the right name.
  return otherNames === undefined
    ? z.looseObject(shape).meta({ additionalProperties: false })
    : z.object(shape).catchall(otherNames)
}

function keysWanted(tree: KeyTree, isWanted: (hot: boolean) => boolean): readonly string[] {
  return Object.entries(tree).flatMap(([name, entry]) => {
    if (entry.is === 'key') return isWanted(entry.hot) ? [name] : []
    return entry.is === 'open' ? (isWanted(entry.entry.hot) ? [name] : []) : keysWanted(entry, isWanted)
  })
}
