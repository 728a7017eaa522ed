import { z } from 'zod'
import { AGENT_TEXTS, BUDGET_TEXTS, DOCUMENT_TEXTS, PART_TEXTS, SCHEDULE_TEXTS, TARGET_TEXTS } from './as-code-texts.ts'
import { asCodeDocument } from './as-code.ts'
import { NAMED_SHAPES } from './shape.ts'

type Texts = Readonly<Record<string, string>>
type Json = Readonly<Record<string, unknown>>

/** The schema of the files that can be applied. */
export type AsCodeSchema = Json & { readonly $schema: string }

const ITEM_TEXTS: Readonly<Record<string, Texts>> = {
  agents: AGENT_TEXTS,
  targets: TARGET_TEXTS,
  schedules: SCHEDULE_TEXTS,
  budgets: BUDGET_TEXTS,
}

/**
 * The files that `apply` takes as a JSON schema, with a sentence for each field: with it an editor completes and checks
 * them. Draft 7, because that is what editors of YAML know best. It comes from the shapes of the contract, so that it
 * lets through what the server does, as far as a shape can say it.
 */
export function asCodeSchema(): AsCodeSchema {
  const { properties, ...frame } = objectOf(z.toJSONSchema(asCodeDocument, { target: 'draft-7', ...HOW }))
  const described = Object.entries(objectOf(properties)).map(([name, schema]) => {
    const texts = ITEM_TEXTS[name]
    const list = objectOf(schema)
    const inside = texts === undefined ? list : { ...list, items: withTexts(objectOf(list['items']), texts) }
    return [name, { description: textOf(DOCUMENT_TEXTS, name), ...inside }]
  })
  const title = 'Escapement: schedules as code'
  return { $schema: DRAFT, ...frame, title, properties: Object.fromEntries(described) as Json }
}

const DRAFT = 'http://json-schema.org/draft-07/schema#'

/** The sentences of shapes with a name of their own. */
const NAMES = z.registry<{ readonly description?: string }>()
for (const [schema, { description }] of NAMED_SHAPES) if (description !== undefined) NAMES.add(schema, { description })

const HOW = {
  unrepresentable: 'any',
  reused: 'inline',
  metadata: NAMES,
  override: ({ jsonSchema }: { readonly jsonSchema: Record<string, unknown> }) => {
    // The bounds of whole numbers in general, and what `format` says already, are only in the reader's way.
    if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum']
    if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum']
    if (jsonSchema['format'] !== undefined) delete jsonSchema['pattern']
  },
} as const

const objectOf = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})

const textOf = (texts: Texts, name: string): string | undefined =>
  Object.hasOwn(texts, name) ? texts[name] : undefined

/** The schema of an object with a sentence for each field, and so on inside of the fields that have fields of their own. */
function withTexts(schema: Json, texts: Texts): Json {
  if (Array.isArray(schema['anyOf']))
    return { ...schema, anyOf: (schema['anyOf'] as readonly unknown[]).map((one) => withTexts(objectOf(one), texts)) }
  if (schema['properties'] === undefined) return schema
  const properties = Object.entries(objectOf(schema['properties'])).map(([name, given]) => {
    const inside = withTexts(objectOf(given), PART_TEXTS[name] ?? {})
    // What a shape says of itself stays, behind what it is here.
    const said = [textOf(texts, name), inside['description']].filter((one) => typeof one === 'string')
    return [name, said.length === 0 ? inside : { ...inside, description: said.join(' ') }]
  })
  return { ...schema, properties: Object.fromEntries(properties) as Json }
}
