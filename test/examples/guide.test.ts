import { mkdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { textOf } from '../docs/tracked-files.ts'
import { createExamplesWorld, type ExamplesWorld } from './world.ts'

// The programs of the guide, in their order and in one directory, as somebody would try them.

const GUIDE = 'docs/guides/embed.md'
const PROGRAM = /^## (?<title>.*)$|^```js run\n(?<program>[\s\S]*?)^```\n\n```text\n(?<output>[\s\S]*?)^```$/gm

const programs = [...textOf(GUIDE).matchAll(PROGRAM)].reduce<{ title: string; found: readonly Program[] }>(
  ({ title, found }, { groups }) =>
    groups?.['title'] === undefined
      ? { title, found: [...found, { title, program: groups?.['program'] ?? '', output: groups?.['output'] ?? '' }] }
      : { title: groups['title'], found },
  { title: '', found: [] },
).found

interface Program {
  readonly title: string
  readonly program: string
  readonly output: string
}

let world: ExamplesWorld

beforeAll(() => {
  world = createExamplesWorld()
  mkdirSync(world.data('guide'))
}, 60_000)
afterAll(() => world.end())

describe('the guide', () => {
  it('has a program in every marked block, followed by what it prints', () => {
    expect(programs).toHaveLength([...textOf(GUIDE).matchAll(/^```js run$/gm)].length)
    expect(programs.length).toBeGreaterThan(9)
  })

  it.each(programs)('under "$title" prints what it says', async ({ title, program, output }) => {
    const file = world.write(`${title.replaceAll(/\W+/g, '-').toLowerCase()}.mjs`, program)
    const ended = await world.run(file, [], { cwd: world.data('guide') })
    expect(ended.stderr).toBe('')
    expect(ended.stdout).toBe(output)
    expect(ended).toMatchObject({ code: 0, signal: null })
  })
})
