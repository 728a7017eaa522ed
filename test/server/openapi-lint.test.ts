import { createConfig, lintFromString, type NormalizedProblem } from '@redocly/openapi-core'
import { describe, expect, it } from 'vitest'
import { openApiOf } from '../../src/operations/openapi.ts'
import { OPERATIONS } from '../../src/operations/table.ts'

/** Everything the linter recommends, its warnings included, and what it leaves to choice. */
const RULES = {
  'operation-operationId-unique': 'error',
  'operation-operationId-url-safe': 'error',
  'operation-description': 'error',
  'operation-singular-tag': 'error',
  'operation-parameters-unique': 'error',
  'path-parameters-defined': 'error',
  'path-declaration-must-exist': 'error',
  'path-not-include-query': 'error',
  'paths-kebab-case': 'error',
  'no-path-trailing-slash': 'error',
  'no-identical-paths': 'error',
  'no-unused-components': 'error',
  'no-invalid-schema-examples': 'error',
  'no-invalid-media-type-examples': 'error',
  'no-invalid-parameter-examples': 'error',
  'tag-description': 'error',
  'operation-tag-defined': 'error',
  'request-mime-type': 'off',
  'spec-strict-refs': 'error',
} as const

/** What the linter has to say of a document. */
async function complaintsAbout(document: unknown): Promise<readonly string[]> {
  const config = await createConfig({ extends: ['recommended-strict'], rules: RULES })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  return problems.map(sentenceOf)
}

const sentenceOf = ({ ruleId, message, location }: NormalizedProblem): string =>
  `${ruleId} at ${location[0]?.pointer ?? '?'}: ${message}`

describe('the linter of OpenAPI documents', () => {
  it('has nothing to say against ours', async () => {
    expect(await complaintsAbout(openApiOf(OPERATIONS, '1.2.3'))).toEqual([])
  })

  it('would say so', async () => {
    const document = structuredClone(openApiOf(OPERATIONS, '1.2.3')) as unknown as {
      paths: Record<string, Record<string, { operationId: string; responses: unknown; tags: string[] }>>
    }
    const broken = document.paths['/api/v1/schedules']?.['get']
    if (broken === undefined) throw new Error('the operation to break is not there')
    broken.operationId = 'schedules.create'
    broken.responses = { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Nobody' } } } } }
    broken.tags = ['nothing']
    const complaints = await complaintsAbout(document)
    const rules = new Set(complaints.map((complaint) => complaint.split(' ', 1)[0]))
    for (const rule of ['operation-operationId-unique', 'no-unresolved-refs', 'struct', 'operation-tag-defined'])
      expect(rules).toContain(rule)
  })
})
