import { describe, expect, it } from 'vitest'
import { LINK_KINDS } from '../../../src/features/explain/schema.ts'
import { OPERATIONS } from '../../../src/operations/table.ts'
import { Command } from 'commander'
import { describeCommands } from '../../../src/cli/commands.ts'
import { evidenceLinks, linkTo, uniqueLinks } from '../../../src/features/explain/evidence.ts'
import { ACTIONS } from '../../../src/features/explain/next.ts'

const shapeOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/?]+')}$`)

function isOperation(method: string, path: string): boolean {
  const [bare = ''] = path.split('?')
  return Object.values(OPERATIONS).some((spec) => spec.method === method && shapeOf(spec.path).test(bare))
}

/** Pages that the console has. */
const PAGES =
  /^\/(?:automation\/(?:runs|schedules)\/[^/]+|automation\/queue|chat\/[^/]+|agents(?:\/heartbeats)?\?agent=.+|operations\/(?:nodes|alerts|audit|deliveries)(?:\?.+)?|settings\/(?:budgets|providers|targets|channels)\?open=.+)$/

describe('a link', () => {
  it.each(LINK_KINDS)('to a %s leads to an operation and a page', (kind) => {
    const link = linkTo(kind, 'a b/c', 'role')
    expect(isOperation('GET', link.api), link.api).toBe(true)
    expect(link.console).toMatch(PAGES)
    expect(link).toMatchObject({ kind, id: 'a b/c', role: 'role' })
  })

  it('is made of everything that the evidence names', () => {
    const links = evidenceLinks({
      previous_run: 'run_1',
      agent: 'writer',
      lane: 'main',
      size: 3,
      budget: 'bud_1',
      note: 'x',
    })
    expect(links.map(({ kind, role, id }) => [kind, role, id])).toEqual([
      ['run', 'previous_run', 'run_1'],
      ['agent', 'agent', 'writer'],
      ['lane', 'lane', 'main'],
      ['budget', 'budget', 'bud_1'],
    ])
    expect(uniqueLinks([...links, ...links])).toEqual(links)
  })
})

const program = await describeCommands(new Command('escapement'), {
  ...{ terminal: {} as never, version: '0', settle: () => undefined },
})

describe('something that can be done', () => {
  const actions = Object.entries(ACTIONS).map(
    ([name, make]) =>
      [
        name,
        (make as (...of: readonly string[]) => { method: string; path: string; command: string })('one', '--x'),
      ] as const,
  )

  it.each(actions)('%s is an operation and a command', (_, { method, path, command }) => {
    expect(isOperation(method, path), `${method} ${path}`).toBe(true)
    const [name, group = '', verb = ''] = command.split(' ')
    expect(name).toBe('escapement')
    const found = program.commands.find((one) => one.name() === group)
    expect(found, command).toBeDefined()
    if ((found?.commands.length ?? 0) > 0) expect(found?.commands.map((one) => one.name())).toContain(verb)
  })
})
