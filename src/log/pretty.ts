const COLOURS: Readonly<Record<string, string>> = {
  debug: '\u001b[90m',
  info: '\u001b[36m',
  warn: '\u001b[33m',
  error: '\u001b[31m',
}
const DIM = '\u001b[2m'
const PLAIN = '\u001b[0m'

/** Lines of the log for people: the time of day, the level, what happened, and what it is about. */
export const prettyText = (text: string): string => text.trimEnd().split('\n').map(prettyLine).join('')

function prettyLine(line: string): string {
  const { level, time, msg, ...facts } = JSON.parse(line) as Readonly<Record<string, unknown>>
  const word = String(level)
  const about = Object.entries(facts)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${visible(name)}=${shown(value)}`)
    .join(' ')
  const colour = COLOURS[word] ?? ''
  const clock = String(time).slice(11, 19)
  return `${DIM}${clock}${PLAIN} ${colour}${word.padEnd(5)}${PLAIN} ${visible(String(msg))}${about === '' ? '' : ` ${DIM}${about}${PLAIN}`}\n`
}

function shown(value: unknown): string {
  if (typeof value === 'string' && /^[\w:.@/+-]+$/.test(value)) return value
  return visible(JSON.stringify(value))
}

/**
 * What others have written must not move the cursor, colour the terminal or turn the line around. JSON escapes only the
 * first 32 of the control characters; the one at 9b begins a command as well as ESC [ does.
 */
const visible = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, ' ')
