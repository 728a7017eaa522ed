import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { instant } from '../../../src/domain/instant.ts'
import { nextFire, type CronPlan } from '../../../src/domain/time/cron.ts'
import { type DayMatch } from '../../../src/domain/time/cron-match.ts'
import { type DstPolicy } from '../../../src/domain/time/dst-policy.ts'
import { parseCron } from '../../../src/domain/time/cron-grammar.ts'
import { parseZone } from '../../../src/domain/time/zone.ts'

interface Row {
  readonly id: string
  readonly expr: string
  readonly tz: string
  readonly from: string
  readonly inclusive: boolean
  readonly to?: string
  readonly dst: DstPolicy
  readonly dayMatch: DayMatch
  readonly expect: readonly string[] | null | 'error'
}

const folder = new URL('../../fixtures/cron-vectors/', import.meta.url)

const readRows = (file: string): readonly Row[] =>
  readFileSync(new URL(`${file}.jsonl`, folder), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row)

function planOf(row: Row): CronPlan | null {
  const expression = parseCron('cron', row.expr)
  const zone = parseZone('timezone', row.tz)
  if (!expression.ok || !zone.ok) return null
  return { expression: expression.value, zone: zone.value, dst: row.dst, dayMatch: row.dayMatch }
}

const show = (at: number | null): string => (at === null ? 'null' : new Date(at).toISOString())

/** What is wrong with our answer to a row, or null. */
function disagreement(row: Row): string | null {
  const plan = planOf(row)
  const say = (text: string): string => `${row.id} "${row.expr}" ${row.tz} ${row.dst} from ${row.from}: ${text}`
  if (row.expect === 'error') return plan === null ? null : say('is not refused')
  if (plan === null) return say('is refused')
  let at = instant(Date.parse(row.from) - (row.inclusive ? 1 : 0))
  for (const wanted of row.expect ?? []) {
    const found = nextFire(plan, at)
    if (found !== Date.parse(wanted)) return say(`${show(found)} instead of ${wanted}`)
    at = found
  }
  if (row.expect !== null && row.to === undefined) return null
  const further = nextFire(plan, at)
  return further === null || (row.to !== undefined && further >= Date.parse(row.to))
    ? null
    : say(`also ${show(further)}`)
}

describe('the rows of other schedulers and our own', () => {
  it.each([
    ['cronos', 749],
    ['croner', 131],
    ['robfig', 41],
    ['temporal', 49],
    ['dagster', 24],
    ['quartz', 55],
    ['escapement', 295],
  ])('are all answered as %s wants them', (file, count) => {
    const rows = readRows(file)
    expect(rows).toHaveLength(count)
    expect(rows.map(disagreement).filter((text) => text !== null)).toEqual([])
  })
})
