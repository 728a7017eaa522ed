// The page of the benchmarks: prose by hand, and results between markers.
import { machineOf, partOf, tableOf, textOf } from './tables.mjs'

const REGION = /<!-- measured: (\S+) -->\n[\s\S]*?<!-- \/measured -->/g

/** The record of a run: what the page shows, without the figures of single rounds. */
export function recordOf({ when, quick, rounds, machine, versions, absent, failed, parts, goals }) {
  const shown = ({ title, seconds, loadAverage, rows, tables, notes }) => ({
    ...{ title, seconds, loadAverage: Number(loadAverage.toFixed(1)), rows, tables, notes },
  })
  return {
    ...{ when, quick, rounds, machine, versions, absent, failed, goals },
    parts: Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, shown(part)])),
  }
}

/** The record with parts replaced by those of a later run. */
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

/** The names of the generated parts of the page. */
export const regionsOf = (page) => [...page.matchAll(REGION)].map(([, name]) => name)

/** The page with new text between its markers. A part that was not measured says so. */
export function render(page, record) {
  return page.replaceAll(
    REGION,
    (_all, name) => `<!-- measured: ${name} -->\n\n${bodyOf(name, record)}\n\n<!-- /measured -->`,
  )
}

function bodyOf(name, record) {
  // There was no run yet.
  if (record.when === null) return 'Not measured yet.'
  if (name === 'machine') return machineOf(record)
  if (name === 'goals') return tableOf(record.goals)
  if (name === 'missed') return missedOf(record.goals)
  const part = record.parts[name]
  // Parts that are newer than the recorded run, until the next report.
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
