/** One command as a shell would start it, with quotes gone and what it redirects left out. */
export interface ShellCommand {
  readonly words: readonly string[]
  /** What is set before it, or instead of it. */
  readonly assigned: readonly (readonly [name: string, value: string])[]
}

interface Reading {
  readonly text: string
  at: number
  readonly found: ShellCommand[]
}

interface Word {
  readonly text: string
  /** Something of it was quoted: it is a word even when it is empty, and no operator. */
  readonly quoted: boolean
}

const ASSIGNED = /^([A-Za-z_]\w*)=([^]*)$/
const SEPARATORS = new Set(['|', '&', ';', '\n', ')'])

/**
 * The commands of a piece of shell in the order in which they stand, those within `$(…)` before the one around them.
 * Reads what documents need: quotes, continued lines, comments, pipes, lists, substitutions and redirections.
 */
export function commandsIn(text: string): readonly ShellCommand[] {
  const reading: Reading = { text: text.replaceAll('\\\n', ' '), at: 0, found: [] }
  while (reading.at < reading.text.length) readCommand(reading)
  return reading.found
}

/** The words of a command that stands alone. */
export const wordsOf = (command: string): readonly string[] => commandsIn(command)[0]?.words ?? []

/** The lines that somebody types one after the other: what is continued, or quoted over several, is one of them. */
export function linesOf(text: string): readonly string[] {
  const lines: string[] = []
  let open = ''
  for (const line of text.split('\n')) {
    open = open === '' ? line : `${open}\n${line}`
    if (line.endsWith('\\') || !isClosed(open)) continue
    if (open.trim() !== '') lines.push(open)
    open = ''
  }
  return lines
}

function isClosed(text: string): boolean {
  try {
    commandsIn(text)
    return true
  } catch {
    return false
  }
}

const charOf = (reading: Reading): string => reading.text.charAt(reading.at)

function readCommand(reading: Reading): void {
  const words: Word[] = []
  for (;;) {
    const char = charOf(reading)
    if (char === '' || SEPARATORS.has(char)) {
      reading.at += 1
      break
    }
    if (char === ' ' || char === '\t') reading.at += 1
    else if (char === '#') skipLine(reading)
    else if (char === '<' || char === '>') skipRedirection(reading, words)
    else words.push(readWord(reading))
  }
  keep(reading, words)
}

function keep(reading: Reading, words: readonly Word[]): void {
  const first = words.findIndex(({ text }) => !ASSIGNED.test(text))
  const count = first === -1 ? words.length : first
  const assigned = words.slice(0, count).map(({ text }): readonly [string, string] => {
    const [, name = '', value = ''] = ASSIGNED.exec(text) ?? []
    return [name, value]
  })
  if (words.length > 0) reading.found.push({ words: words.slice(count).map(({ text }) => text), assigned })
}

function skipLine(reading: Reading): void {
  while (charOf(reading) !== '' && charOf(reading) !== '\n') reading.at += 1
}

/** `2>file`, `<file`, `>&1`: the number before it is no word, and what comes after it is none either. */
function skipRedirection(reading: Reading, words: Word[]): void {
  const before = words.at(-1)
  const touches = /\d/.test(reading.text.charAt(reading.at - 1))
  if (touches && before !== undefined && !before.quoted && /^\d$/.test(before.text)) words.pop()
  while ('<>&'.includes(charOf(reading)) && charOf(reading) !== '') reading.at += 1
  while (charOf(reading) === ' ') reading.at += 1
  readWord(reading)
}

function readWord(reading: Reading): Word {
  let text = ''
  let quoted = false
  for (;;) {
    const char = charOf(reading)
    if (char === '' || /[\s<>]/.test(char) || SEPARATORS.has(char)) return { text, quoted }
    if (char === "'" || char === '"') {
      quoted = true
      text += char === "'" ? readSingle(reading) : readDouble(reading)
    } else text += readPart(reading)
  }
}

function readSingle(reading: Reading): string {
  const end = reading.text.indexOf("'", reading.at + 1)
  if (end === -1) throw new Error(`a quote is not closed: ${reading.text.slice(reading.at, reading.at + 40)}`)
  const text = reading.text.slice(reading.at + 1, end)
  reading.at = end + 1
  return text
}

function readDouble(reading: Reading): string {
  const start = reading.at
  reading.at += 1
  let text = ''
  while (charOf(reading) !== '"') {
    if (charOf(reading) === '') throw new Error(`a quote is not closed: ${reading.text.slice(start, start + 40)}`)
    text += readPart(reading)
  }
  reading.at += 1
  return text
}

/** One character, one that is escaped, or a substitution, whose commands are found on the way. */
function readPart(reading: Reading): string {
  const char = charOf(reading)
  if (reading.text.startsWith('$(', reading.at)) {
    const inside = insideOf(reading)
    reading.found.push(...commandsIn(inside))
    return '$(…)'
  }
  reading.at += 1
  if (char !== '\\') return char
  reading.at += 1
  return reading.text.charAt(reading.at - 1)
}

function insideOf(reading: Reading): string {
  const start = reading.at + 2
  let depth = 1
  reading.at = start
  while (depth > 0) {
    const char = charOf(reading)
    if (char === '') throw new Error(`$( is not closed: ${reading.text.slice(start, start + 40)}`)
    if (char === "'") readSingle(reading)
    else {
      if (char === '(') depth += 1
      if (char === ')') depth -= 1
      reading.at += 1
    }
  }
  return reading.text.slice(start, reading.at - 1)
}
