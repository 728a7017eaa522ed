import { describe, expect, it } from 'vitest'
import { compare, generator } from './generated.ts'

// Tests of their own: run-states.test.ts, and test/coverage/page.test.ts.
const others = generator.SECTIONS.filter(({ name }) => !['run-states', 'coverage'].includes(name))

describe('generated sections', () => {
  it.each(others.map(({ name, file }) => [name, file]))('%s in %s is fresh', async (name, file) => {
    const { current, fresh } = await compare(name)
    expect(current, `${file} is stale: run \`npm run docs\``).toBe(fresh)
  })

  it('replace only what stands between their markers', () => {
    const before =
      'above\n<!-- generated:a -->\nold\n<!-- /generated -->\nbelow\n<!-- generated:b -->\nb\n<!-- /generated -->\n'
    const after = generator.replaceSection(before, 'a', 'new')
    expect(after).toBe(before.replace('\nold\n', '\n\nnew\n\n'))
  })

  it('are refused when a marker is missing', () => {
    expect(() => generator.replaceSection('<!-- generated:a -->', 'a', 'new')).toThrow('no section')
  })
})
