import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { OperationSpec } from '../../src/api/operation.ts'
import { OPERATIONS } from '../../src/operations/table.ts'
import { descriptionsIn, repeatedIn } from './descriptions.ts'
import { trackedFiles } from './tracked-files.ts'

// What a field of the API means is written once, with its schema. OpenAPI, references, MCP, JSON-RPC, schedules as code and
// the help of commands take it from there.

/** Shorter texts may be the same by chance: "Default: 3.", "How many at once". */
const SHORTEST = 25

/** Options whose help is not that of the field, because they give it in another form or say the opposite. */
const OVERRIDDEN: ReadonlySet<string> = new Set([
  ...['agents.ts executor', 'backfill.ts deliver', 'backfills.ts running', 'heartbeat.ts checklist'],
  ...['heartbeat.ts adaptive', 'agents.ts max_tokens', 'schedule-of-run.ts session', 'targets.ts settings'],
  ...['schedule-of-run.ts when', 'schedule-of-run.ts requirements', 'schedule-of-run.ts output'],
])

const sources = trackedFiles().filter((file) => file.startsWith('src/') && file.endsWith('.ts'))
const descriptions = sources.flatMap(descriptionsIn)

/** The fields that a body or a query of the API describes. */
function describedFields(): ReadonlySet<string> {
  const specs: readonly OperationSpec[] = Object.values(OPERATIONS)
  const properties = specs
    .flatMap(({ body, query }) => [body ?? [], query ?? []].flat())
    .map((schema) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }).properties ?? {})
  return new Set(
    properties.flatMap((fields) =>
      Object.entries(fields).flatMap(([name, field]) =>
        typeof field === 'object' && field.description !== undefined ? [name] : [],
      ),
    ),
  )
}

describe('a description', () => {
  it('is written in one place', () => {
    expect(descriptions.length).toBeGreaterThan(500)
    expect(repeatedIn(descriptions, SHORTEST)).toEqual([])
  })

  it('of a field is not written again for an option of the command line', () => {
    const known = describedFields()
    expect(known.size).toBeGreaterThan(50)
    const again = descriptions
      .filter(({ place, text }) => place.startsWith('src/cli/') && text.length >= SHORTEST)
      .filter(({ field }) => field !== null && known.has(field))
      .filter(({ place, field }) => !OVERRIDDEN.has(`${path.basename(place).replace(/:\d+$/, '')} ${field}`))
    expect(again.map(({ place, field, text }) => `${place} ${field}: ${text}`)).toEqual([])
  })
})

describe('two descriptions', () => {
  const at = (place: string, text: string) => ({ place, text, field: null })

  it('are the same whatever their first letter and their full stop', () => {
    const first = at('a.ts:1', 'How many runs may wait for a slot.')
    expect(repeatedIn([first, at('b.ts:2', 'how many runs may wait for a slot')], SHORTEST)).toHaveLength(1)
    expect(repeatedIn([first, at('b.ts:2', 'How many runs may wait for a turn.')], SHORTEST)).toEqual([])
  })
})
