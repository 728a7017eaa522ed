import { describe, expect, it } from 'vitest'
import { BUDGET_ACTIONS, BUDGET_DEFAULTS } from '../../src/domain/budget/budget.ts'
import { daysBetween, expectedUsage, scheduledRuns } from '../../src/domain/forecast/runs-per-day.ts'
import { simulateBudgets, type BudgetSimulation } from '../../src/domain/forecast/within-budgets.ts'
import { attemptId } from '../../src/domain/ids.ts'
import { DAY_MS, formatInstant, HOUR_MS, later } from '../../src/domain/instant.ts'
import { UTC } from '../../src/domain/time/zone.ts'
import { storeTypicalUsage } from '../../src/engine/org-state/budget-usage.ts'
import { budgetLoads, applyBudgetRows } from '../../src/engine/commands/budgets.ts'
import { settleDue, applyReport } from '../../src/engine/commands/settle.ts'
import { submit } from '../../src/engine/commands/submit.ts'
import { aBudget } from '../engine/commands/budget-records.ts'
import { aTask, openCabinet, type Cabinet } from '../engine/commands/cabinet.ts'
import { NOW } from '../support/builders.ts'
import { timingOf } from '../support/schedules.ts'
import { textOf } from './tracked-files.ts'

const PAGE = textOf('docs/concepts/budgets.md')

/** The rows of the table under a head. */
function rowsUnder(head: string): readonly (readonly string[])[] {
  const lines = PAGE.split('\n')
  const start = lines.findIndex((line, index) => line.startsWith(`| ${head} `) && lines[index + 1]?.startsWith('| -'))
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'))
  return lines.slice(start + 2, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

/** Does what a row says, and answers with what the desk made of it. */
function act(cabinet: Cabinet, names: Map<string, string>, words: string): void {
  const { desk } = cabinet
  const [, name = ''] = /`([a-e])`/.exec(words) ?? []
  const run = (): ReturnType<Cabinet['run']> => cabinet.run(names.get(name) ?? '')
  if (words.includes('the next day')) cabinet.pass(12 * HOUR_MS)
  else if (words.includes('dies')) settleDue(desk, run(), desk.now)
  else if (words.includes('reports')) {
    const usage = { inputTokens: Number(/reports (\d+)/.exec(words)?.[1]) }
    applyReport(desk, run(), {
      ...{ attemptId: run().attemptId ?? attemptId('none'), outcome: { kind: 'succeeded' }, usage },
    })
  } else {
    const stated = /max_tokens: (\d+)/.exec(words)?.[1]
    const params = stated === undefined ? {} : { max_tokens: Number(stated) }
    const answer = submit(desk, aTask({ content: { action: name, params } }))
    if (desk.budgets !== null) storeTypicalUsage(desk.budgets, { agents: [], schedules: [] })
    names.set(name, answer.runId)
    if (!words.includes('refused')) cabinet.start(answer.runId)
    else if (answer.kind !== 'rejected') throw new Error(`${name} was not refused`)
    else expect(answer.why.evidence['reserve']).toBe(Number(/refused: (\d+)/.exec(words)?.[1]))
  }
}

describe('the page about budgets', () => {
  it('plays its worked example', () => {
    const cabinet = openCabinet()
    applyBudgetRows(cabinet.desk, [aBudget({ amount: 1_000, defaultReserve: 100 })])
    const names = new Map<string, string>()
    const rows = rowsUnder('What happens')
    expect(rows).toHaveLength(9)
    for (const [words = '', ...figures] of rows) {
      act(cabinet, names, words)
      const [booked] = [...(cabinet.desk.budgets?.budgets.values() ?? [])]
      const [load] = [...budgetLoads(cabinet.desk).values()]
      const aside = [...cabinet.desk.runs.values()]
        .filter(({ state }) => state === 'running')
        .flatMap(({ reserves }) => reserves)
        .reduce((sum, { amount }) => sum + amount, 0)
      const spent = booked?.spent.get(booked.lastPeriod?.start ?? NOW) ?? 0
      expect([spent, aside, load?.remaining], words).toEqual(figures.map(Number))
    }
  })

  it('computes its worked example of a forecast', () => {
    const use = expectedUsage([900, 1_000, 1_100])
    if (use === null) throw new Error('nothing is known')
    const days = daysBetween(UTC, { from: NOW, to: later(NOW, 2 * DAY_MS) })
    const timing = timingOf({ cron: '*/30 * * * *', timezone: 'UTC' })
    const runs = scheduledRuns({ timing, maxFires: null, fires: 0, watermark: NOW }, days)
    const budget = { amount: 30_000, period: 'day', timezone: UTC, onExceed: 'skip', pausedAt: null } as const
    const play = (each: number): { readonly game: BudgetSimulation; readonly ran: readonly (readonly number[])[] } => {
      const source = { isWhole: true, maxWaiting: 1, draws: [{ budget: 0, use: each, reserve: 1_100 }] }
      const game = simulateBudgets([{ ...budget, used: 6_000 }], [source])
      return { game, ran: days.map((day, n) => game.next(day, [runs[n] ?? 0])) }
    }
    const [usual, most] = [play(use.expected), play(use.high)]
    const [{ periods, usedUpAt } = { periods: [], usedUpAt: null }] = usual.game.courses()
    const expected = days.map(({ date }, n) => {
      const [ran = 0, high = 0] = [usual.ran[n]?.[0], most.ran[n]?.[0]]
      const held = (runs[n] ?? 0) - ran
      return [date, ran, ran * use.expected, high * use.high, held, periods[n]?.used].map(String)
    })
    expect(rowsUnder('Day')).toEqual(expected)
    for (const at of [usedUpAt, most.game.courses()[0]?.usedUpAt])
      expect(PAGE).toContain(at === null || at === undefined ? 'never' : `${formatInstant(at).slice(0, 19)}Z`)
  })

  it('has a row for every action, and marks the default', () => {
    const written = rowsUnder('`on_exceed`').map(([cell]) => cell)
    const all = BUDGET_ACTIONS.map((action) =>
      action === BUDGET_DEFAULTS.onExceed ? `\`${action}\` (default)` : `\`${action}\``,
    )
    expect(written).toEqual(all)
    for (const action of BUDGET_ACTIONS) expect(PAGE).toContain(`\n### \`${action}\`\n`)
  })
})
