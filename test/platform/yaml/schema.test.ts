import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { asCodeSchema } from '../../../src/features/as-code/schema.ts'
import { readYaml } from '../../../src/platform/yaml/yaml.ts'
import { textOf } from '../../docs/tracked-files.ts'

// The schema that editors check files with, tried with a validator that was not made for it: the one of Fastify.

interface Validator {
  readonly compile: (schema: object) => ((value: unknown) => boolean) & {
    readonly errors?: readonly { readonly instancePath: string }[] | null
  }
}
const ofFastify = createRequire(createRequire(import.meta.url).resolve('@fastify/ajv-compiler'))
const { Ajv } = ofFastify('ajv') as { readonly Ajv: new (options: object) => Validator }
const addFormats = ofFastify('ajv-formats') as (validator: Validator) => void

const validator = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true })
addFormats(validator)
const validate = validator.compile(asCodeSchema())

/** Where a file is wrong, by the schema. */
function wrongIn(text: string): readonly string[] {
  const read = readYaml([{ name: 'f.yaml', text }])
  if (!read.ok) throw new Error(JSON.stringify(read.flaws))
  return validate(read.value) ? [] : [...new Set((validate.errors ?? []).map(({ instancePath }) => instancePath))]
}

const schedule = (field: string): string => `version: 1\nschedules:\n  - name: A\n    ${field}\n`

describe('the schema of files', () => {
  it('lets the example through', () => {
    expect(wrongIn(textOf('examples/schedules.yaml'))).toEqual([])
  })

  it.each([
    'every_seconds: 1800',
    'every_seconds: 1h30m',
    'at: 2027-01-01T00:00:00Z',
    'enabled: null',
    'payload: { anything: [1, { goes: true }] }',
    'failure_options: { ladder_seconds: [30s, 300] }',
    'delivery: { target: Team }',
    'executor: { kind: http, url: "https://example.com" }',
  ])('knows %s', (field) => {
    expect(wrongIn(schedule(field))).toEqual([])
  })

  it.each([
    ['crom: 0 9 * * *', '/schedules/0'],
    ['every_seconds: half an hour', '/schedules/0/every_seconds'],
    ['overlap_action: MAYBE', '/schedules/0/overlap_action'],
    ['retry_policy: { max_retries: many }', '/schedules/0/retry_policy/max_retries'],
    ['next_run_at: 2027-01-01T00:00:00Z', '/schedules/0'],
    ['executor: { kind: magic }', '/schedules/0/executor/kind'],
  ])('refuses %s', (field, place) => {
    expect(wrongIn(schedule(field))).toContain(place)
  })

  it.each(['version: 2', 'agents: []', 'version: 1\nagents: {}', 'version: 1\nthings: []'])('refuses %j', (text) => {
    expect(wrongIn(text)).not.toEqual([])
  })

  it('has a sentence for every field of every kind', () => {
    interface Described {
      readonly description?: string
      readonly properties?: Readonly<Record<string, Described>>
      readonly items?: Described
    }
    const { properties = {} } = asCodeSchema() as Described
    const silent = Object.entries(properties).flatMap(([kind, { description, items }]) => [
      ...(description === undefined ? [kind] : []),
      ...Object.entries(items?.properties ?? {}).flatMap(([name, field]) =>
        field.description === undefined ? [`${kind}.${name}`] : [],
      ),
    ])
    expect(silent).toEqual([])
    expect(Object.keys(properties['schedules']?.items?.properties ?? {})).toContain('cron')
  })
})
