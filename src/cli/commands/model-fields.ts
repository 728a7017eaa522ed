import type { FieldNames } from '../remote/refused.ts'
import { namesOf, number, valuesOf, type FieldOption, type FieldValues, type ReadText } from '../remote/fields.ts'
import type { Talk } from '../remote/talk.ts'

const secret: ReadText = (name) => `{{secret:${name}}}`

/** What is said about an agent that is a model; each is a field of its executor. */
export const MODEL_FIELDS: readonly FieldOption[] = [
  {
    flags: '--base-url <url>',
    field: 'base_url',
    about: 'of a model: where its server is, as https://api.openai.com/v1',
  },
  { flags: '--model <name>', field: 'model', about: 'of a model: its name on that server' },
  {
    flags: '--api-key-secret <name>',
    field: 'api_key',
    read: secret,
    about: 'of a model: the secret that holds its key',
  },
  {
    flags: '--system-prompt <text>',
    field: 'system_prompt',
    about: 'of a model: what it is told before everything else',
  },
  {
    flags: '--temperature <number>',
    field: 'temperature',
    read: number,
    about: 'of a model: how freely it speaks, 0 to 2',
  },
  { flags: '--max-tokens <n>', field: 'max_tokens', read: number, about: 'of a model: how long an answer may be' },
]

/** What the server calls these fields, under what they are called here. */
export const MODEL_NAMES: FieldNames = namesOf(
  MODEL_FIELDS.map((option) => ({ ...option, field: `executor/${option.field}` })),
)

/** The body with what was said about a model in its executor; what was not said stays as it is in `before`. */
export async function withModel(
  { terminal }: Talk,
  body: FieldValues,
  given: { readonly options: object; readonly before: () => Promise<object> },
): Promise<FieldValues> {
  const said = valuesOf(MODEL_FIELDS, given.options, terminal.now())
  if (Object.keys(said).length === 0) return body
  const { executor } = body
  const known = typeof executor === 'object' && executor !== null ? executor : await given.before()
  return { ...body, executor: { kind: 'chat', ...known, ...said } }
}
