import { expect, it } from 'vitest'
import { compare } from './generated.ts'

it('docs/run-states.md is printed from the run machine', async () => {
  const { current, fresh } = await compare('run-states')
  expect(current, 'docs/run-states.md is stale: run `npm run docs`').toBe(fresh)
})
