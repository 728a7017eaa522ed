import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { isDocumented, describeRule } from '../../../src/domain/explain/rules.ts'
import { because, explainWhy, isComplete, REASONS, type Reason } from '../../../src/domain/reasons.ts'
import { ROOT } from '../../tooling/root.ts'

const ALL = Object.keys(REASONS) as readonly Reason[]

const holesOf = (reason: Reason): readonly string[] =>
  [...REASONS[reason].matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

describe('the sentence of a reason', () => {
  it.each(ALL)('%s is complete with the facts that its producer must bring', (reason) => {
    const evidence = Object.fromEntries(holesOf(reason).map((name) => [name, `the ${name}`]))
    const sentence = explainWhy({ reason, rule: 'x', evidence })
    expect(sentence).not.toMatch(/[{}]|unknown|undefined|null/)
    expect(sentence).toMatch(/^[A-Z0-9/"].*\.$|^the /)
    for (const name of holesOf(reason)) expect(sentence).toContain(`the ${name}`)
  })

  it.each(ALL)('%s is a sentence also of what an earlier release wrote without them', (reason) => {
    const old = { reason, rule: 'x', evidence: Object.fromEntries(holesOf(reason).map((name) => [name, null])) }
    expect(isComplete(old)).toBe(holesOf(reason).length === 0)
    expect(explainWhy(old)).toMatch(/^[A-Z].*\.$/)
    expect(explainWhy(old)).not.toMatch(/[{}]|unknown|undefined|null/)
  })

  it('cannot be given without its facts: the compiler refuses it', () => {
    // @ts-expect-error A run that overlaps names the run that was in its way.
    because('overlap', 'overlap_action=SKIP')
    // @ts-expect-error Every fact is needed.
    because('overlap', 'overlap_action=SKIP', { previous_run: 'run_1' })
    // @ts-expect-error And is there.
    because('session_order', 'gate:session_order', { ahead: null })
    const either: 'run_gone' | 'target_gone' = Math.random() < 2 ? 'run_gone' : 'target_gone'
    // @ts-expect-error Where it may be one of two, the facts of both are needed.
    because(either, 'delivery.try', { run: 'run_1' })
    expect(because('cancelled', 'request')).toEqual({ reason: 'cancelled', rule: 'request', evidence: {} })
  })
})

/** Every rule that is written down where a reason is given. */
function rulesInSources(): readonly string[] {
  const files = readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )
  const found = new Set<string>()
  for (const file of files) {
    const text = readFileSync(path.join(ROOT, 'src', file), 'utf8')
    for (const [, rule = ''] of text.matchAll(/because\(\s*(?:'\w+'|[\w.]+),\s*['`]([^'`]+)['`]/g)) found.add(rule)
    for (const [, rule = ''] of text.matchAll(/const rule = ['`]([^'`]+)['`]/g)) found.add(rule)
  }
  return [...found].toSorted()
}

describe('a rule', () => {
  const rules = rulesInSources()

  it('is found in the sources', () => {
    expect(rules.length).toBeGreaterThan(60)
    expect(rules).toContain('gate:lane')
  })

  it('is documented, wherever a reason names it', () => {
    expect(rules.filter((rule) => !isDocumented(rule))).toEqual([])
  })

  it('leads to a page and a heading that exist', () => {
    const broken = rules.map((rule) => describeRule(rule).documentation).filter((page) => !exists(page))
    expect([...new Set(broken)]).toEqual([])
  })

  it('is told with its value, which it says itself or which is among the evidence', () => {
    expect(describeRule('overlap_action=SKIP')).toMatchObject({ name: 'overlap_action', value: 'SKIP' })
    expect(describeRule('gate:lane', { lane: 'main', size: 30 })).toMatchObject({ name: 'gate:lane', value: '30' })
    expect(describeRule('session.max_concurrent', { limit: 3 })).toMatchObject({ value: '3' })
    expect(describeRule('timing')).toMatchObject({ value: null })
    expect(describeRule('never heard of').documentation).toBe('docs/concepts/explain.md#rules')
  })
})

function exists(page: string): boolean {
  const [file = '', anchor] = page.split('#')
  const text = readFileSync(path.join(ROOT, file), 'utf8')
  return (
    anchor === undefined || [...text.matchAll(/^#{1,6}\s+(.*)$/gm)].some(([, title = '']) => slugOf(title) === anchor)
  )
}

const slugOf = (title: string): string =>
  title
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
