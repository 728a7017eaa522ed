import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const KINDS = [
  ['crash', 'crashes'],
  ['5xx', '5xx'],
  ['hang', 'hangs'],
  ['wrong', 'wrong answers'],
]

/** The result line of a part. */
export const lineOf = (part, { tried, findings, facts }) =>
  [
    `${part.name}: ${tried} tried, ${findings.length} found`,
    ...Object.entries(facts).map(([name, value]) => `${name.replaceAll('_', ' ')} ${value}`),
  ].join(', ')

/** The last line of the output. */
export function lastWord(ends) {
  const findings = ends.flatMap((end) => end.findings)
  const tried = ends.reduce((sum, end) => sum + end.tried, 0)
  const counts = KINDS.map(([kind, word]) => `${findings.filter((one) => one.kind === kind).length} ${word}`)
  return `${tried} tried, ${counts.join(', ')}`
}

/** Omits an input that is nested too deeply to be serialized; its seed still reproduces it. */
function written(why, input) {
  try {
    return JSON.stringify({ why, input }, null, 2)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return JSON.stringify({ why, input: 'nested too deeply to be written' }, null, 2)
  }
}

/** Writes a finding to a file that can be replayed; returns its name. */
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
