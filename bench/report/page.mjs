// The page of the benchmarks: prose by hand, and between markers what a run has measured.
import { machineOf, partOf, tableOf, textOf } from './tables.mjs'

const REGION = /<!-- measured: (\S+) -->\n[\s\S]*?<!-- \/measured -->/g

/** What is kept of a run: what the page shows, and not the single figures behind it. */
export function recordOf({ when, quick, rounds, machine, versions, absent, failed, parts, goals }) {
  const shown = ({ title, seconds, loadAverage, rows, tables, notes }) => ({
    ...{ title, seconds, loadAverage: Number(loadAverage.toFixed(1)), rows, tables, notes },
  })
  return {
    ...{ when, quick, rounds, machine, versions, absent, failed, goals },
    parts: Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, shown(part)])),
  }
}

/** The record with the parts of a later run of some parts in place of what it had. */
export function withParts(record, results) {
  const { when, parts, goals } = recordOf(results)
  const later = Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, { ...part, when }]))
  const decided = new Set(goals.map(({ goal }) => goal))
  return {
    ...record,
    parts: { ...record.parts, ...later },
    goals: [...record.goals.filter(({ goal }) => !decided.has(goal)), ...goals],
    notYet: (record.notYet ?? []).filter((name) => later[name] === undefined),
  }
}

/** The names of what the page leaves room for. */
export const regionsOf = (page) => [...page.matchAll(REGION)].map(([, name]) => name)

/** The page with everything between its markers made anew. A part that was not measured says so. */
export function render(page, record) {
  return page.replaceAll(
    REGION,
    (_all, name) => `<!-- measured: ${name} -->\n\n${bodyOf(name, record)}\n\n<!-- /measured -->`,
  )
}

function bodyOf(name, record) {
  // The record before the first run.
  if (record.when === null) return 'Not measured yet.'
  if (name === 'machine') return machineOf(record)
  if (name === 'goals') return tableOf(record.goals)
  if (name === 'missed') return missedOf(record.goals)
  const part = record.parts[name]
  // Parts that are newer than the run of record; the next report leaves none.
  if (record.notYet?.includes(name)) return 'Not measured yet.'
  return part === undefined ? 'Not measured in this run.' : partOf(part)
}

function missedOf(goals) {
  const missed = goals.filter(({ reached }) => reached === 'no')
  if (missed.length === 0) return 'In this run no goal was missed.'
  const lines = missed.map(
    ({ goal, wanted, measured }) => `- ${textOf(goal)}: wanted ${textOf(wanted)}, measured ${measured}.`,
  )
  return ['Goals that this run missed:', lines.join('\n')].join('\n\n')
}
