import { describe, expect, it } from 'vitest'
import { openApiOf } from '../../src/operations/openapi.ts'
import { OPERATIONS } from '../../src/operations/table.ts'
import type { OperationSpec } from '../../src/api/operation.ts'

const document = openApiOf(OPERATIONS, '1.2.3')
const specs: readonly (readonly [string, OperationSpec])[] = Object.entries(OPERATIONS)

/** Every reference in the document. */
function referencesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = '$ref' in value && typeof value.$ref === 'string' ? [value.$ref] : []
  return [...own, ...Object.values(value).flatMap(referencesIn)]
}

describe('the OpenAPI document', () => {
  it('has every operation of the table, under its id', () => {
    const ids = Object.values(document.paths).flatMap((path) => Object.values(path).map((one) => one['operationId']))
    expect(ids.toSorted()).toEqual(specs.map(([id]) => id).toSorted())
  })

  it('leads nowhere that is not there', () => {
    const known = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`)
    const used = new Set(referencesIn(document))
    expect([...used].filter((reference) => !known.includes(reference))).toEqual([])
    expect(used).toContain('#/components/schemas/Schedule')
    expect(used).toContain('#/components/schemas/Problem')
  })

  it.each(specs)('describes %s', (id, spec) => {
    const path = document.paths[spec.path.replace(/:(\w+)/g, '{$1}')]?.[spec.method.toLowerCase()] as {
      readonly parameters: readonly { readonly name: string; readonly in: string }[]
      readonly responses: Readonly<Record<string, unknown>>
      readonly security: readonly unknown[]
      readonly requestBody?: unknown
    }
    const inPath = path.parameters.filter((one) => one.in === 'path').map(({ name }) => name)
    expect(inPath).toEqual([...spec.path.matchAll(/:(\w+)/g)].map(([, name]) => name))
    for (const status of Object.keys(spec.answers)) expect(path.responses).toHaveProperty(status)
    expect(path.responses).toHaveProperty('400')
    expect(path.requestBody !== undefined).toBe(spec.body !== undefined)
    expect(path.security.length === 0).toBe(spec.permission === 'none')
    const asksWho =
      spec.permission !== 'none' ||
      spec.refusals?.some((code) => code === 'UNAUTHENTICATED' || code === 'BAD_SIGNATURE') === true
    expect(Object.hasOwn(path.responses, '401')).toBe(asksWho)
    expect(id).toMatch(/^[a-z][a-zA-Z]*\.[a-zA-Z]+$/)
  })

  it('holds examples that fit the shapes', () => {
    const bodies = specs.flatMap(([id, { body, examples }]) =>
      examples?.body === undefined ? [] : [[id, body?.safeParse(examples.body).success]],
    )
    const shown = specs.flatMap(([id, { examples, answers }]) => {
      const [shape] = Object.values(answers)
      if (examples?.answer === undefined || shape === null || shape === undefined || 'contentType' in shape) return []
      return [[id, shape.safeParse(examples.answer).success]]
    })
    for (const examples of [bodies, shown]) {
      expect(examples.length).toBeGreaterThan(10)
      expect(examples.filter(([, fits]) => fits !== true)).toEqual([])
    }
  })
})
