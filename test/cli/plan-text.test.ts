import { describe, expect, it } from 'vitest'
import { flawLines, hasChanges, planLines, planTotals } from '../../src/features/as-code/cli.ts'
import { createStyle } from '../../src/cli/output/style.ts'
import type { PlannedItem, PlanView } from '../../src/features/as-code/schema.ts'
import { readYaml } from '../../src/platform/yaml/yaml.ts'

const plain = createStyle(false)

const item = (part: Partial<PlannedItem>): PlannedItem => ({
  ...{ kind: 'schedule', name: 'Nightly', id: null, action: 'unchanged', pointer: '/schedules/0' },
  ...{ changes: [], flaws: [], ...part },
})

function planOf(...items: readonly PlannedItem[]): PlanView {
  const count = (action: string): number => items.filter((one) => one.action === action).length
  const counts = {
    ...{ create: count('create'), update: count('update'), delete: count('delete') },
    ...{ unchanged: count('unchanged'), unmanaged: count('unmanaged'), flawed: 0 },
  }
  return { plan_id: 'p', applied: false, prune: false, items, counts, permissions: [] }
}

const change = (field: string, before: unknown, after: unknown) => ({ field, before, after })

describe('a plan for people', () => {
  const plan = planOf(
    item({ action: 'create', kind: 'agent', name: 'Reporter', changes: [change('executor.kind', null, 'echo')] }),
    item({ action: 'update', changes: [change('cron', '0 9 * * *', '0 8 * * *')] }),
    item({
      ...{ action: 'update', name: 'Inbox' },
      changes: [change('enabled', null, false), change('payload.prompt', 'Look', 'Look\nagain')],
    }),
    item({ action: 'delete', kind: 'target', name: 'Old\u001b[31m' }),
    item({}),
    ...['A', 'B', 'C', 'D', 'E', 'F'].map((name) => item({ action: 'unmanaged', name, pointer: null })),
  )

  it('has a line for each thing that changes, and numbers for the rest', () => {
    expect(planLines(plan, { style: plain, width: null })).toEqual([
      '+ agent Reporter',
      '~ schedule Nightly  cron: 0 9 * * * → 0 8 * * *',
      '~ schedule Inbox',
      '    enabled: - → false',
      '    payload.prompt: Look → "Look\\nagain"',
      '- target Old [31m',
      '= 1 unchanged',
      '? 6 stored but not in the files: schedule A, schedule B, schedule C, schedule D, schedule E, …',
    ])
    expect(planTotals(plan)).toBe('Plan: 1 to create, 2 to update, 1 to delete.')
    expect(planTotals({ ...plan, applied: true })).toBe('Applied: 1 created, 2 updated, 1 deleted.')
    expect([plan, planOf(item({}))].map(hasChanges)).toEqual([true, false])
  })

  it('is cut to the width of a terminal, and nowhere else', () => {
    const long = planOf(item({ action: 'update', changes: [change('payload', 'a'.repeat(300), 'b'.repeat(300))] }))
    const [narrow = ''] = planLines(long, { style: plain, width: 80 })
    expect(narrow).toMatch(/^~ schedule Nightly {2}payload: a{1,40}… → b{1,40}…$/)
    expect(planLines(long, { style: plain, width: null })[0]).toContain('b'.repeat(300))
  })
})

describe('flaws for people', () => {
  it('say where in which file, and what is allowed', () => {
    const read = readYaml([{ name: 'x.yaml', text: 'version: 1\nschedules:\n  - name: A\n    crom: 1\n' }])
    const flaws = [
      { pointer: '/schedules/0/crom', message: 'is unknown', allowed: 'cron' },
      { pointer: '', message: 'is wrong' },
    ]
    expect(read.ok && flawLines(flaws, read.positionOf, plain)).toEqual([
      '  x.yaml:4:5 schedules[0].crom is unknown',
      '    allowed: cron',
      '  x.yaml:1:1 the document is wrong',
    ])
  })
})
