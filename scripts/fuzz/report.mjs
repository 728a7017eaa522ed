import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const KINDS = [
  ['crash', 'crashes'],
  ['5xx', '5xx'],
  ['hang', 'hangs'],
  ['wrong', 'wrong answers'],
]

/** One line about a part that has ended. */
export const lineOf = (part, { tried, findings, facts }) =>
  [
    `${part.name}: ${tried} tried, ${findings.length} found`,
    ...Object.entries(facts).map(([name, value]) => `${name.replaceAll('_', ' ')} ${value}`),
  ].join(', ')

/** The last word. */
export function lastWord(ends) {
  const findings = ends.flatMap((end) => end.findings)
  const tried = ends.reduce((sum, end) => sum + end.tried, 0)
  const counts = KINDS.map(([kind, word]) => `${findings.filter((one) => one.kind === kind).length} ${word}`)
  return `${tried} tried, ${counts.join(', ')}`
}

/** An input that is nested too deeply to be written is left out: its seed still makes it again. */
function written(why, input) {
  try {
    return JSON.stringify({ why, input }, null, 2)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return JSON.stringify({ why, input: 'nested too deeply to be written' }, null, 2)
  }
}

/** Keeps a finding as a small file that can be tried again; answers with its name. */
export function keepFinding(directory, finding) {
  const { part, kind, where, message, input } = finding
  const text = `${written(`${kind} in ${where}: ${message}`, input)}\n`
  const name = `${where}-${createHash('sha256').update(text).digest('hex').slice(0, 8)}.json`.replaceAll(
    /[^\w.-]+/g,
    '-',
  )
  const folder = path.join(directory, part)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, name), text)
  return path.join(folder, name)
}
