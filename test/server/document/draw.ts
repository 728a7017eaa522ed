import fc from 'fast-check'
import type { Random } from '../../simulation/random.ts'
import type { DescribedBody, JsonSchema } from './document.ts'

/** What drawing needs to know. */
export interface Drawing {
  readonly random: Random
  readonly resolve: DescribedBody['resolve']
}

/** The way from a body to a value inside of it: the name of a field, the number of a choice, an entry of a list. */
export type Step = { readonly field: string } | { readonly choice: number } | { readonly entry: true }

/** A value that has to stand at the end of a way. */
export interface Wanted {
  readonly way: readonly Step[]
  readonly value: unknown
}

const CRONS = ['* * * * *', '*/30 8-18 * * MON-FRI', '0 9 1,15 * *', '@daily', '0 0 29 2 *']
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata']
const TIMES = ['2026-05-01T09:00:00Z', '2027-12-31T23:59:59.999Z', '2026-08-01T00:00:00Z']
const OFFSET_TIMES = ['2026-05-01T09:00:00+02:00', '2026-10-25T02:30:00-05:00']
const WORDS = ['abc', 'writer', 'main', 'a-b', 'x1']

/** Texts that mean something in a field of this name: rules beyond the shape ask for it. */
const MEANT: Readonly<Record<string, readonly string[]>> = {
  ...{ cron: CRONS, cron_expr: CRONS, expr: CRONS, timezone: ZONES, tz: ZONES, default_timezone: ZONES },
  rrule: ['FREQ=DAILY;COUNT=5', 'FREQ=WEEKLY;BYDAY=MO,WE'],
  ...{ url: ['https://example.com/x'], base_url: ['https://example.com/v1'], callbackUrl: ['https://example.com/'] },
  ...{ email: ['a@example.com'], to: ['2026-06-01T09:00:00Z', 'a@example.com'], from: TIMES },
  ...{ start: ['08:00'], end: ['20:00'], hosts: ['api.example.com', 'a.example.com:8443'] },
  ...{ program: ['/bin/true'], directory: ['/tmp'], session: ['agent:writer:main', 'mail'], text: ['every day at 9'] },
  ...{ scopes: ['runs:read', 'schedules:write'], exclude: ['2026-12-24'], value: ['abcdefgh-12345678'] },
}

/** A long text that others are cut from. */
const LONG = 'abcdefghij'.repeat(110_000)

/** A text of a length. */
export const textOf = (length: number): string => (length <= LONG.length ? LONG.slice(0, length) : 'a'.repeat(length))

const MATCHING = new Map<string, readonly string[]>()

/** Texts that match a pattern. Nothing can be drawn from one that looks ahead: there words have to do. */
function matching(pattern: string): readonly string[] {
  const known = MATCHING.get(pattern)
  if (known !== undefined) return known
  const texts = /\(\?<?[=!]/.test(pattern)
    ? []
    : fc.sample(fc.stringMatching(new RegExp(pattern, 'u')), { numRuns: 30, seed: 1 })
  MATCHING.set(pattern, texts)
  return texts
}

/** The parts of an intersection as one schema of an object. */
export function merged(schema: JsonSchema, resolve: Drawing['resolve']): JsonSchema {
  if (schema.allOf === undefined) return schema
  const parts = schema.allOf.map((part) => merged(resolve(part), resolve))
  const { allOf: _allOf, ...own } = schema
  return [own, ...parts].reduce((all, part) => ({
    ...all,
    ...part,
    properties: { ...all.properties, ...part.properties },
    required: [...(all.required ?? []), ...(part.required ?? [])],
  }))
}

export const choicesOf = (schema: JsonSchema): readonly JsonSchema[] => schema.anyOf ?? schema.oneOf ?? []

/** A value that fits a schema, and at the end of a way whatever is wanted there. */
export function draw(given: JsonSchema, drawing: Drawing, about: { name?: string; wanted?: Wanted } = {}): unknown {
  const { random, resolve } = drawing
  const { wanted, name = '' } = about
  const [step, ...rest] = wanted?.way ?? []
  if (wanted !== undefined && step === undefined) return wanted.value
  const next = wanted === undefined ? {} : { wanted: { way: rest, value: wanted.value } }
  const schema = merged(resolve(given), resolve)
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return random.one(schema.enum)
  const choices = choicesOf(schema)
  if (choices.length > 0) {
    const chosen = step !== undefined && 'choice' in step ? choices[step.choice] : random.one(choices)
    return draw(chosen ?? {}, drawing, { name, ...(chosen === undefined ? {} : next) })
  }
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['any'])
  const type = step === undefined ? random.one(types) : 'entry' in step ? 'array' : 'object'
  switch (type) {
    case 'object':
      return drawObject(schema, drawing, { step, next })
    case 'array':
      return drawList(schema, drawing, { name, step, next })
    case 'string':
      return drawText(schema, random, name)
    case 'integer':
      return drawNumber(schema, random)
    case 'number':
      return random.chance(0.5) ? drawNumber(schema, random) : drawNumber(schema, random, 0.5)
    case 'boolean':
      return random.chance(0.5)
    case 'null':
      return null
    default:
      return random.one<unknown>(['text', 5, true, null, ['a'], { some: 'thing' }])
  }
}

type Along = { readonly step: Step | undefined; readonly next: { readonly wanted?: Wanted } }

function drawObject(schema: JsonSchema, drawing: Drawing, { step, next }: Along): unknown {
  const { properties = {}, required = [], additionalProperties: others } = schema
  const { random } = drawing
  const wanted = step !== undefined && 'field' in step ? step.field : null
  const most = random.one([0, 0, 1, 1, 2, 3, 8])
  const optional = Object.keys(properties).filter((name) => !required.includes(name))
  const chosen = new Set(Array.from({ length: optional.length === 0 ? 0 : most }, () => random.one(optional)))
  const drawn: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(properties)) {
    if (name === wanted) drawn[name] = draw(property, drawing, { name, ...next })
    else if (required.includes(name) || chosen.has(name)) drawn[name] = draw(property, drawing, { name })
  }
  if (typeof others !== 'object') return drawn
  const fewest = schema.minProperties ?? (Object.keys(properties).length > 0 || random.chance(0.3) ? 0 : 1)
  const names = Array.from({ length: fewest }, () => String(draw(schema.propertyNames ?? { type: 'string' }, drawing)))
  for (const name of [...names, ...(wanted === null ? [] : [wanted])])
    if (!Object.hasOwn(properties, name)) drawn[name] = draw(others, drawing, name === wanted ? next : {})
  return drawn
}

function drawList(schema: JsonSchema, drawing: Drawing, about: Along & { readonly name: string }): unknown {
  const { minItems = 0, maxItems = 1_000, items = {}, prefixItems } = schema
  if (prefixItems !== undefined) return prefixItems.map((item) => draw(item, drawing, { name: about.name }))
  const isEntry = about.step !== undefined && 'entry' in about.step
  const least = Math.max(minItems, isEntry ? 1 : 0)
  const length = Math.min(maxItems, Math.max(least, drawing.random.int(0, 3)))
  const entry = (at: number): unknown =>
    draw(items, drawing, { name: about.name, ...(isEntry && at === 0 ? about.next : {}) })
  return Array.from({ length }, (_, at) => entry(at))
}

function drawText(schema: JsonSchema, random: Random, name: string): string {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format } = schema
  const fits = (text: string): boolean =>
    text.length >= minLength &&
    text.length <= maxLength &&
    (pattern === undefined || new RegExp(pattern, 'u').test(text))
  if (format === 'date-time') return random.one([...TIMES, ...OFFSET_TIMES].filter(fits))
  const meant = (MEANT[name] ?? []).filter(fits)
  if (meant.length > 0 && random.chance(0.95)) return random.one(meant)
  const matched = pattern === undefined ? [] : matching(pattern).filter(fits)
  const words = matched.length > 0 ? matched : WORDS.filter(fits)
  return words.length > 0 ? random.one(words) : textOf(minLength)
}

function drawNumber(schema: JsonSchema, random: Random, fraction = 0): number {
  const { minimum = 0, maximum = 1_000, exclusiveMinimum, exclusiveMaximum } = schema
  const least = Math.ceil(exclusiveMinimum === undefined ? minimum : exclusiveMinimum + 1)
  const most = Math.floor(exclusiveMaximum === undefined ? maximum : exclusiveMaximum - 1)
  const drawn = least + fraction + random.int(0, Math.min(1_000, Math.max(0, most - least)))
  const bounded = Math.min(drawn, Math.max(least, most))
  return least > most ? maximum : bounded
}
