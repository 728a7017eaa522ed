import { describe, expect, it } from 'vitest'
import { compare } from '../docs/generated.ts'
import { countLine, SEEDS } from './seeds.ts'

describe('docs/coverage.md', () => {
  it('shows every statement as the rows have it', async () => {
    const { current, fresh } = await compare('coverage', { coverage: { SEEDS, countLine } })
    expect(current, 'docs/coverage.md is stale: run `npm run docs`').toBe(fresh)
  })
})
