import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../tooling/root.ts'
import { loadScripts } from './scripts.ts'

const text = readFileSync(path.join(ROOT, 'docs/security.md'), 'utf8')
const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}

describe('the threat model', () => {
  it('names proofs that are there', async () => {
    const { proofsIn, checkProofs } = await loadScripts()
    expect(proofsIn(ROOT).length).toBeGreaterThan(25)
    expect(checkProofs(ROOT)).toEqual([])
  })

  it('names every proof there is among the tests of security', () => {
    const tests = readdirSync(path.join(ROOT, 'test/security')).filter((file) => file.endsWith('.test.ts'))
    const missing = tests.filter((file) => !text.includes(`test/security/${file}`))
    expect(missing).toEqual(['threat-model.test.ts'])
  })

  it('names commands that are there', () => {
    const commands = [...text.matchAll(/`npm run ([\w:]+)/g)].map(([, name = '']) => name)
    expect(commands.filter((name) => !(name in scripts))).toEqual([])
  })

  it('says of everybody who could want something what is not protected, or whom it trusts', () => {
    const [, people = ''] = text.split('## Threats by attacker')
    const sections = people.split('## Rules of the code')[0]?.split('\n### ').slice(1) ?? []
    expect(sections.length).toBeGreaterThan(8)
    for (const section of sections)
      expect(section).toMatch(/Not protected|is trusted|no finer wall|is not a secret|[*_]write[*_]/)
  })
})
