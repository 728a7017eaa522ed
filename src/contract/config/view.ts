import { z } from 'zod'
import { parsed } from '../../domain/input.ts'
import { readWith } from '../../api/fields.ts'
import { CONFIG_KEYS } from '../../platform/config/keys.ts'
import type { KeyTree } from '../../platform/config/key.ts'
import { readChange } from '../../platform/config/tree.ts'

/** Who has the last word on a setting. */
export const CONFIG_SOURCES = ['default', 'file', 'environment', 'flag', 'stored'] as const
export type ConfigSource = (typeof CONFIG_SOURCES)[number]

/** One setting as it holds. Secrets are masked. */
export interface ConfigValueView {
  readonly value: unknown
  readonly source: ConfigSource
  readonly default: unknown
  /** Whether a change takes effect while running. */
  readonly hot: boolean
  /** What it will be after the next start, where that is something else. */
  readonly after_restart?: unknown
}

/** The configuration of the node that answers, by path (`tasks.max_queue`). */
export interface ConfigView {
  /** The file it was read from; null: there is none. */
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

/** The shape of the file: every setting, all of them optional. */
export const configSchema = schemaOf(CONFIG_KEYS, () => true)

/**
 * The shape of a change through the API: what takes effect while running; null takes back what was stored. It is read as
 * the file is, which knows the groups of other schedulers and in which group a misplaced setting belongs.
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
  wants: (hot: boolean) => boolean,
  /** What every other name is read by; left out: there is no other name. */
  others?: z.ZodType,
): z.ZodType<ConfigPatch> {
  const shape: Record<string, z.ZodType> = {}
  for (const [name, entry] of Object.entries(tree)) {
    if (entry.is === 'key') {
      if (wants(entry.hot)) shape[name] = entry.schema.nullable().optional().describe(entry.summary)
    } else if (entry.is === 'open') {
      if (wants(entry.entry.hot)) shape[name] = schemaOf(entry.own, wants, entry.entry.schema.nullable()).optional()
    } else if (keysWanted(entry, wants).length > 0) shape[name] = schemaOf(entry, wants).optional()
  }
  // Other names are described as refused and left in place, so that whoever reads the whole can say what was meant.
  return others === undefined
    ? z.looseObject(shape).meta({ additionalProperties: false })
    : z.object(shape).catchall(others)
}

function keysWanted(tree: KeyTree, wants: (hot: boolean) => boolean): readonly string[] {
  return Object.entries(tree).flatMap(([name, entry]) => {
    if (entry.is === 'key') return wants(entry.hot) ? [name] : []
    return entry.is === 'open' ? (wants(entry.entry.hot) ? [name] : []) : keysWanted(entry, wants)
  })
}
