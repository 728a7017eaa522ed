import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askAll, createRailWorld, type RailWorld } from './guard-rails-world.ts'
import { ROWS } from './guard-rails-rows.ts'

// Every rail, every way around it we could think of, with the same key through REST, JSON-RPC and MCP: each is refused
// with the same code and the same rail, and nothing in any table is changed. What is allowed is in guard-rails-allowed.

let rails: RailWorld
beforeAll(async () => {
  rails = await createRailWorld()
})
afterAll(() => rails.close())

it('are tried in many ways', () => {
  expect(Object.values(ROWS).flat().length).toBeGreaterThanOrEqual(80)
})

describe.each(Object.entries(ROWS))('guard rails: %s', (_group, rows) => {
  it.each(rows.map((row) => [row.name, row] as const))('refuse to %s', async (_name, row) => {
    const asked = row.asked(rails.things)
    expect(Object.keys(asked)).not.toEqual([])
    const before = await rails.look()
    const answers = await askAll(rails, row.key ?? 'plain', asked)
    const wanted = { code: row.code, rail: row.rail }
    expect(answers).toEqual(answers.map(([surface]) => [surface, wanted]))
    expect(await rails.look()).toBe(before)
  })
})
