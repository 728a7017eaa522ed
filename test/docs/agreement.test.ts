import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { run } from '../cli/run.ts'
import { ROOT } from '../tooling/root.ts'
import { textOf } from './tracked-files.ts'

// What is said in two places has to be the same thing.

interface ImportRule {
  readonly name: string
  readonly comment: string
}

const rules = (
  createRequire(import.meta.url)(path.join(ROOT, '.dependency-cruiser.cjs')) as {
    readonly forbidden: readonly ImportRule[]
  }
).forbidden

describe('the table of rooms of docs/architecture.md', () => {
  const rows = textOf('docs/architecture.md')
    .split('\n')
    .filter((line) => line.startsWith('| **'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
  const allowedByDocs = new Map(rows.map((cells) => [cells[1]?.replaceAll('*', ''), cells[4]]))

  const allowedByRules = rules.flatMap(({ name, comment }) => {
    const [, room, allowed] = /^(.*) may import: (.*)\.$/.exec(comment) ?? []
    return !name.endsWith('-imports-only-its-neighbours') || room === undefined ? [] : [[room, allowed] as const]
  })

  it('has as many rooms as there are rules', () => {
    expect(allowedByDocs.size).toBe(24)
    expect(allowedByRules).toHaveLength(24)
  })

  it.each(allowedByRules)('says of %s what the import rule says: %s', (room, allowed) => {
    expect(allowedByDocs.get(room)).toBe(allowed === 'nothing' ? '-' : allowed)
  })
})

describe('the walks of docs/architecture.md', () => {
  const steps = [...textOf('docs/architecture.md').matchAll(/^\| `(\w+)` +\| \[[^\]]+\]\(\.\.\/(src\/[^)]+)\)/gm)].map(
    ([, name = '', file = '']) => [name, file] as const,
  )

  it('are long enough to be walks', () => {
    expect(steps.length).toBeGreaterThan(25)
  })

  it.each(steps)('pass %s in %s', (name, file) => {
    expect(textOf(file)).toMatch(new RegExp(`^export (?:async )?(?:function\\*?|const) ${name}\\b`, 'm'))
  })
})

describe('docs/reference/cli.md', () => {
  it.each([[['serve']], [['cron', 'preview']], [['cron', 'next']]])('describes every option of %j', async (command) => {
    const document = textOf('docs/reference/cli.md')
    expect(document).toContain(`\`${command.join(' ')}`)
    const { stdout } = await run([...command, '--help'])
    const options = [...stdout.matchAll(/^\s+(--[a-z-]+)/gm)].map(([, option]) => option ?? '')
    expect(options.filter((option) => !document.includes(`\`${option}`))).toEqual([])
  })
})

describe('docs/adr/README.md', () => {
  it('lists every decision once', () => {
    const records = readdirSync(path.join(ROOT, 'docs/adr')).filter((file) => /^\d{4}-/.test(file))
    const listed = [...textOf('docs/adr/README.md').matchAll(/\((\d{4}-[^)]*\.md)\)/g)].map(([, file]) => file)
    expect([...listed].sort()).toEqual([...records].sort())
  })
})
