import type { FieldNames } from '../remote/refused.ts'
import { namesOf, number, valuesOf, type FieldOption, type FieldValues, type ReadText } from '../remote/fields.ts'
import type { Talk } from '../remote/talk.ts'

const secret: ReadText = (name) => `{{secret:${name}}}`

/** Options of an agent that is a model; each is a field of its executor. */
export const MODEL_FIELDS: readonly FieldOption[] = [
  {
    flags: '--base-url <url>',
    field: 'base_url',
    about: 'chat executor: URL of the API, as https://api.openai.com/v1',
  },
  { flags: '--model <name>', field: 'model', about: 'chat executor: name of the model' },
  { flags: '--api-key-secret <name>', field: 'api_key', read: secret, about: 'chat executor: secret with the API key' },
  { flags: '--system-prompt <text>', field: 'system_prompt', about: 'chat executor: system prompt' },
  { flags: '--temperature <n>', field: 'temperature', read: number, about: 'chat executor: sampling temperature, 0–2' },
  { flags: '--max-tokens <n>', field: 'max_tokens', read: number, about: 'chat executor: maximum output tokens' },
]

/** What the server calls these fields, under what they are called here. */
export const MODEL_NAMES: FieldNames = namesOf(
  MODEL_FIELDS.map((option) => ({ ...option, field: `executor/${option.field}` })),
)

/** The body with the options of a model in its executor; what was not given stays as it is in `before`. */
export async function withModel(
  { now }: Talk,
  body: FieldValues,
  given: { readonly options: object; readonly before: () => Promise<object> },
): Promise<FieldValues> {
  const said = valuesOf(MODEL_FIELDS, given.options, now)
  if (Object.keys(said).length === 0) return body
  const { executor } = body
  const known = typeof executor === 'object' && executor !== null ? executor : await given.before()
  return { ...body, executor: { kind: 'chat', ...known, ...said } }
}
