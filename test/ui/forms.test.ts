import { describe, expect, it } from 'vitest'
import type { RunView } from '../../src/features/runs/schema.ts'
import { changedOf, readForm, typedOf, type FieldSpec } from '../../ui/forms/field.ts'
import { differencesOf } from '../../ui/pages/audit/differences.ts'
import { likelyNext } from '../../ui/pages/lanes/likely-next.ts'

const field = (path: string, kind: FieldSpec['kind'], more: Partial<FieldSpec> = {}): FieldSpec => ({
  ...{ path, kind, label: 'form.save' },
  ...more,
})

describe('forms', () => {
  const specs = [
    field('name', 'text', { isRequired: true }),
    field('executor.headers', 'pairs'),
    field('executor.args', 'list'),
    field('limit', 'number', { whenEmpty: 'null' }),
    field('waits', 'numbers'),
    field('body', 'json'),
    field('value', 'secret'),
  ]

  it('read what is typed as the server wants it, and say what cannot be read', () => {
    const typed = { name: ' Writer ', 'executor.headers': 'X-A: b:c\n', 'executor.args': 'a\n\n b', waits: '30 60, 90' }
    expect(readForm(specs, typed)).toEqual({
      body: {
        name: 'Writer',
        executor: { headers: { 'X-A': 'b:c' }, args: ['a', 'b'] },
        limit: null,
        waits: [30, 60, 90],
      },
      flaws: {},
    })
    expect(readForm(specs, { name: ' ', 'executor.headers': 'no colon', limit: 'x', body: '{' }).flaws).toEqual({
      ...{ name: 'form.missing', 'executor.headers': 'form.noPairs', limit: 'form.noNumber', body: 'form.noJson' },
    })
  })

  it('come back to what they began with, show no secret, and send only what has changed', () => {
    const thing = { name: 'Writer', executor: { headers: { A: 'b' }, args: ['x', 'y'] }, limit: 3, value: 'hidden' }
    const values = Object.fromEntries(specs.map((spec) => [spec.path, typedOf(spec, thing)]))
    expect(values['value']).toBe('')
    const { body } = readForm(specs, values)
    expect(changedOf(body, thing)).toEqual({})
    expect(changedOf({ ...body, limit: 4 }, thing)).toEqual({ limit: 4 })
  })
})

describe('what changed', () => {
  it('is told field by field, and lists whole', () => {
    const before = { enabled: true, retry: { max: 3, base: 1 }, list: [1, 2] }
    expect(differencesOf(before, { enabled: false, retry: { max: 3, base: 2 }, list: [1], more: 1 })).toEqual([
      { path: 'enabled', before: true, after: false },
      { path: 'list', before: [1, 2], after: [1] },
      { path: 'more', before: undefined, after: 1 },
      { path: 'retry.base', before: 1, after: 2 },
    ])
    expect(differencesOf(before, before)).toEqual([])
  })
})

describe('what is likely next', () => {
  const run = (id: string, agent: string, second: number, priority = 0): RunView =>
    ({ id, agent_id: agent, priority, created_at: new Date(second * 1_000).toISOString() }) as RunView

  it('takes turns between agents, then goes by priority and age', () => {
    const queued = [run('a1', 'a', 1), run('a2', 'a', 2), run('a0', 'a', 9, -1), run('b1', 'b', 3), run('c1', 'c', 4)]
    const work = [{ agent_id: 'c', active: 2, queued: 1 }]
    expect(likelyNext(queued, work, 10).map(({ id }) => id)).toEqual(['a0', 'b1', 'a1', 'a2', 'c1'])
    expect(likelyNext(queued, work, 2)).toHaveLength(2)
  })
})
